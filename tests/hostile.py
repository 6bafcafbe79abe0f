"""Names that would do harm if they were taken for anything but text."""

NAMES = (
    '<img src=x onerror="window.pwned=1">',
    "<b>bold</b>",
    '<a href="javascript:window.pwned=1">x</a>',
    "[x](javascript:alert(1))",
    "![x](http://127.0.0.1:9/x.png)",
    "$x$",
    ":red[x]",
    ":streamlit:",
    "www.example.org <- a@b.org",
    "&lt;i&gt; %{y} </script>",
)
