// What Streamlit's slider lacks. Figures follow it at once: at every move, and all the while that it is dragged, they
// are fetched ahead of Streamlit's run of the page (drawing/frames.py). Values in between may be skipped, the last never
// is. Streamlit hears of a value when the slider is let go; here also when it is held still, so that all else follows
// too. While all rests, the figures of the next stops are fetched. And it has ticks.

const EVERY = 20, STILL = 250;
// The page may look idle until the server has heard of the last value, and while it renders what it got.
const HEARD = 1500, RENDERED = 300;
// Streamlit may load this file once for every page: all share what the first has set up.
const shared = (window.dntkScrub ??= { frames: "", stops: {}, listening: false });
let drag = null;

const running = () => document.querySelector(".stApp")?.dataset.testScriptState !== "notRunning";
const plots = () => [...document.querySelectorAll(".dntk-plot")].filter((gd) => gd.dntk);

// The slider that moves, what it says, since when, and whether Streamlit has begun and ended a run since.
let moving = null;
let asking = false;

// As the link has it.
const KEY = /st-key-(?:view|kept)_(\w+)/;
const nameOf = (slider) => slider.closest("[class*=st-key-view_], [class*=st-key-kept_]")?.className.match(KEY)[1];
const said = (slider) => slider.ariaValueText || slider.value;

function look(slider) {
  const name = nameOf(slider), text = said(slider);
  if (!shared.frames || !name || (moving?.name === name && moving.text === text)) return;
  const first = !moving;
  moving = { slider, name, text, since: performance.now(), begun: false, ended: 0, fresh: true };
  document.documentElement.dataset.dntkSliding = "";
  if (first) setTimeout(watch, EVERY);
  ask();
}

// What the server answers; null for a page that has no figures, or another server that answers with a page of its own.
async function fetched(question, options) {
  const answer = await fetch(`${shared.frames}?${question}`, options);
  const found = answer.status === 200 && answer.headers.get("content-type").startsWith("text/plain");
  return found ? answer.text() : null;
}

async function ask() {
  if (asking || !moving?.fresh) return;
  asking = true;
  moving.fresh = false;
  const question = asked(moving.name, moving.text), ready = beside.get(here(question));
  forget();
  try {
    const text = (await ready) ?? (await fetched(question));
    if (text === null) throw new Error("no frame");
    const lines = text.split("\n"), shown = plots();
    for (let i = 0; i + 1 < lines.length; i += 2) {
      shown.find((gd) => gd.dntk.name === lines[i])?.dntkFrame(lines[i + 1]);
    }
  } catch {
    stop();
  }
  asking = false;
  ask();
}

// The figures one stop further and one stop back, by address and question. They hold until a slider moves, a run begins
// or anything else is touched; then all are forgotten, also those that are still to come.
let beside = new Map();
const asked = (name, text) => String(new URLSearchParams({ [name]: text }));
const here = (question) => `${location.href} ${question}`;
const forget = () => { beside = new Map(); };

async function lookBeside(slider) {
  const found = beside, name = nameOf(slider), stops = shared.stops[name] ?? [], place = stops.indexOf(said(slider));
  for (const text of place < 0 ? [] : [stops[place + 1], stops[place - 1]]) {
    if (beside !== found || moving) return;
    const question = asked(name, text), key = here(question);
    if (text === undefined || found.has(key)) continue;
    found.set(key, fetched(question, { headers: { Purpose: "prefetch" } }).catch(() => null));
    // The server has other things to do.
    if (!(await found.get(key))) found.delete(key);
  }
}

// Streamlit has the last word: once it has followed, or does not.
function watch() {
  if (!moving) return;
  const now = performance.now();
  if (running()) moving = { ...moving, begun: true, ended: 0 };
  else if (moving.begun) moving.ended ||= now;
  const followed = moving.ended && now - moving.ended > RENDERED;
  if (!drag && !asking && (followed || (!moving.begun && now - moving.since > HEARD))) stop();
  else setTimeout(watch, EVERY);
}

function stop() {
  const slider = moving?.slider;
  moving = null;
  delete document.documentElement.dataset.dntkSliding;
  plots().forEach((gd) => gd.dntkRest());
  if (slider?.isConnected) lookBeside(slider);
}

function tell({ target, slider, event }) {
  const same = { bubbles: true, cancelable: true, button: 0, isPrimary: event.isPrimary, pointerId: event.pointerId };
  const where = { pointerType: event.pointerType, clientX: event.clientX, clientY: event.clientY };
  target.dispatchEvent(new PointerEvent("pointerup", { ...same, ...where }));
  target.dispatchEvent(new PointerEvent("pointerdown", { ...same, ...where, buttons: 1 }));
  drag.said = said(slider);
}

function turn() {
  if (!drag.target.isConnected) return end();
  const text = said(drag.slider), now = performance.now();
  if (text !== drag.text) {
    drag = { ...drag, text, since: now };
    look(drag.slider);
  }
  if (text !== drag.said && now - drag.since > STILL && !running()) tell(drag);
}

function end() {
  clearInterval(drag?.timer);
  drag = null;
}

const sliderAt = (place) => place.closest?.("[data-testid=stSlider]")?.querySelector("input[type=range]");

// Events that are not trusted are our own.
function listen() {
  if (shared.listening) return;
  shared.listening = true;
  document.addEventListener("pointerdown", (event) => {
    const slider = sliderAt(event.target);
    if (event.isTrusted && !slider) forget();
    if (!event.isTrusted || event.button !== 0 || !slider) return;
    end();
    const text = said(slider);
    drag = { target: event.target, slider, event, text, said: text, since: 0, timer: setInterval(turn, EVERY) };
  }, true);
  document.addEventListener("pointermove", (event) => {
    if (drag && event.isTrusted) drag.event = event;
  }, true);
  for (const name of ["pointerup", "pointercancel"]) {
    document.addEventListener(name, (event) => {
      if (!event.isTrusted || !drag) return;
      const { slider, text } = drag;
      end();
      // Streamlit hears of it now.
      if (moving) moving = { ...moving, since: performance.now(), begun: false, ended: 0 };
      setTimeout(() => { if (said(slider) !== text) look(slider); });
    }, true);
  }
  document.addEventListener("focusin", ({ target }) => {
    const slider = sliderAt(target);
    if (slider && !moving && !running()) lookBeside(slider);
  });
  new MutationObserver(() => { if (running()) forget(); })
    .observe(document.querySelector(".stApp"), { attributes: true, attributeFilter: ["data-test-script-state"] });
  document.addEventListener("keydown", ({ target }) => {
    const slider = sliderAt(target), before = slider && said(slider);
    if (!slider) forget();
    // The slider hears of the key after this.
    if (slider) setTimeout(() => { if (said(slider) !== before) look(slider); });
  }, true);
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
export default function ({ data }) {
  Object.assign(shared, data);
  listen();
  const place = sidebar();
  soon();
  if (!place || watched.has(place)) return;
  watched.add(place);
  const seen = { subtree: true, childList: true, attributes: true, attributeFilter: ["min", "max", "step"] };
  new MutationObserver(soon).observe(place, seen);
}
