// What Streamlit's slider lacks. It keeps its value to itself until it is let go; here it says it whenever the page has
// followed the last one: the drag is ended and taken up again where the pointer is, so that values in between may be
// skipped, but the last never is. And it has ticks.

const EVERY = 40;
// The page may look idle until the server has heard of the last value.
const HEARD = 1500;
let drag = null;

const page = () => document.querySelector(".stApp");
const running = () => page()?.dataset.testScriptState !== "notRunning";

function followed() {
  if (drag.saidAt === null) return true;
  if (running()) drag.begun = true;
  return (drag.begun && !running()) || performance.now() - drag.saidAt > HEARD;
}

function tell({ target, slider, event }) {
  const same = { bubbles: true, cancelable: true, button: 0, isPrimary: event.isPrimary, pointerId: event.pointerId };
  const where = { pointerType: event.pointerType, clientX: event.clientX, clientY: event.clientY };
  target.dispatchEvent(new PointerEvent("pointerup", { ...same, ...where }));
  target.dispatchEvent(new PointerEvent("pointerdown", { ...same, ...where, buttons: 1 }));
  drag = { ...drag, said: slider.value, saidAt: performance.now(), begun: false };
}

function turn() {
  if (!drag.target.isConnected) return end();
  if (drag.slider.value !== drag.said && followed()) tell(drag);
}

function end() {
  clearInterval(drag?.timer);
  drag = null;
}

// Events that are not trusted are our own.
document.addEventListener("pointerdown", (event) => {
  const slider = event.target.closest?.("[data-testid=stSlider]")?.querySelector("input[type=range]");
  if (!event.isTrusted || event.button !== 0 || !slider) return;
  end();
  drag = { target: event.target, slider, event, said: slider.value, saidAt: null, timer: setInterval(turn, EVERY) };
}, true);
document.addEventListener("pointermove", (event) => {
  if (drag && event.isTrusted) drag.event = event;
}, true);
for (const name of ["pointerup", "pointercancel"]) {
  document.addEventListener(name, (event) => { if (event.isTrusted) end(); }, true);
}

// A tick at every stop, where there are few enough to be told apart: stops are where the run's numbers change.
const MOST = 40;
const sidebar = () => document.querySelector("[data-testid=stSidebar]");
let drawing = false;

function tick() {
  drawing = false;
  for (const slider of document.querySelectorAll("[data-testid=stSlider]")) {
    const input = slider.querySelector("input[type=range]");
    const steps = input ? Math.round((input.max - input.min) / (Number(input.step) || 1)) : 0;
    slider.classList.toggle("dntk-ticks", steps > 1 && steps <= MOST);
    slider.style.setProperty("--steps", steps);
  }
}

function soon() {
  if (!drawing) requestAnimationFrame(tick);
  drawing = true;
}

const watched = new WeakSet();
export default function () {
  const place = sidebar();
  soon();
  if (!place || watched.has(place)) return;
  watched.add(place);
  const seen = { subtree: true, childList: true, attributes: true, attributeFilter: ["min", "max", "step"] };
  new MutationObserver(soon).observe(place, seen);
}
