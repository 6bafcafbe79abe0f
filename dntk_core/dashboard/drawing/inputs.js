// Inputs in a grid: a picture or words, two lines below; buttons where a click means something.

function element(tag, className, text) {
  const made = document.createElement(tag);
  made.className = className;
  if (text) made.textContent = text;
  return made;
}

// A column's name and its value: the last word of a line.
function line(text) {
  const made = element("span", "line"), cut = text.lastIndexOf(" ");
  made.append(element("span", "name", cut < 0 ? text : text.slice(0, cut)), element("span", "value", cut < 0 ? "" : text.slice(cut + 1)));
  return made;
}

function drawn(card, clickable) {
  const made = element(clickable ? "button" : "div", "dntk-input");
  const shown = element("span", card.text ? "shown words" : "shown", card.row ? "" : card.text);
  if (card.row) shown.append(...card.text.split("\n").map(line));
  if (card.colour) shown.style.borderColor = card.colour;
  if (card.picture) {
    const picture = element("img", card.few ? "few" : "");
    picture.src = card.picture;
    picture.alt = [card.title, card.note].filter(Boolean).join(", ");
    shown.append(picture);
  }
  made.append(shown, element("span", "title", card.title), element("span", "note", card.note));
  made.title = [[card.title, card.note].filter(Boolean).join(" · "), card.text].filter(Boolean).join("\n");
  made.dataset.index = card.index;
  return made;
}

export default function ({ data, parentElement, setTriggerValue }) {
  const place = parentElement.querySelector(".dntk-inputs");
  place.replaceChildren(...data.cards.map((card) => drawn(card, data.clickable)));
  if (!data.clickable) return;
  for (const button of place.querySelectorAll("button")) {
    button.onclick = () => setTriggerValue("click", Number(button.dataset.index));
  }
}
