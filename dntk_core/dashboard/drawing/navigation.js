// Links to all pages as one element: eleven of Streamlit's own would be sent and drawn anew at every slider move.

function build(nav, { base, pages }) {
  nav.replaceChildren(...pages.map(([file, path, label]) => {
    const link = document.createElement("a");
    link.textContent = label;
    const aim = () => { link.href = `${base}/${path}${location.search}`; };
    aim();
    // A link that is copied or opened in a tab of its own says what the sliders say now.
    for (const event of ["pointerenter", "pointerdown", "focus"]) link.addEventListener(event, aim);
    link.addEventListener("click", (click) => {
      if (click.ctrlKey || click.metaKey || click.shiftKey || click.altKey) return;
      click.preventDefault();
      nav.dntkFollow(file);
    });
    return link;
  }));
}

export default function ({ data, parentElement, setTriggerValue }) {
  const nav = parentElement.querySelector("nav.dntk-links");
  nav.dntkFollow = (file) => setTriggerValue("page", file);
  const text = JSON.stringify(data.pages);
  if (nav.dntkText !== text) build(nav, data);
  nav.dntkText = text;
  nav.querySelectorAll("a").forEach((link, place) => {
    if (location.pathname === `${data.base}/${data.pages[place][1]}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  });
}
