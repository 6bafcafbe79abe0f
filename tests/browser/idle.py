"""When a page is idle: Streamlit's own word for it comes before elements are drawn and before a gesture is heard of."""

# When something last changed or was said, whether the server owes an answer, and every toast, however short.
WATCH = """() => {
  window.watch = { last: performance.now(), owed: false, toasts: new Set() };
  const stir = () => { watch.last = performance.now(); };
  new MutationObserver(() => {
    stir();
    document.querySelectorAll("[data-testid=stToast]").forEach((toast) => watch.toasts.add(toast));
  }).observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
  const send = WebSocket.prototype.send, heard = new WeakSet();
  WebSocket.prototype.send = function (data) {
    if (!heard.has(this)) this.addEventListener("message", () => { watch.owed = false; stir(); });
    heard.add(this);
    watch.owed = true;
    stir();
    return send.call(this, data);
  };
}"""
# The script has run, all it made is on the page, no slider moves, and nothing has stirred for a moment.
IDLE = """() => {
  const app = document.querySelector(".stApp");
  return app?.dataset.testScriptState === "notRunning" && app.querySelector(".stHeading") !== null
    && app.querySelector("[data-stale=true], [data-testid=stSkeleton]") === null
    && app.querySelector(".dntk-plot:not([data-drawn]), .dntk-plot[data-waiting]") === null
    && !("dntkSliding" in document.documentElement.dataset) && !watch.owed && performance.now() - watch.last > 120;
}"""
