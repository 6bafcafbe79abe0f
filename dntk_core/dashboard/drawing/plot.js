// Draw a Plotly figure and update it in place: zoom, hover and page position survive a change of data.

let library = null;

function loadPlotly(url) {
  library ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = url;
    script.onload = () => resolve(window.Plotly);
    script.onerror = () => { library = null; reject(new Error("plotly.js did not load")); };
    document.head.appendChild(script);
  });
  return library;
}

// Colours come from the page's theme; a figure sets only what carries meaning.
function themed(layout, style) {
  const read = (name) => style.getPropertyValue(name).trim();
  const text = read("--st-text-color"), line = read("--st-border-color"), ground = read("--st-background-color");
  const axis = { gridcolor: line, linecolor: line, zerolinecolor: line, tickcolor: line, automargin: true };
  const result = {
    ...layout,
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: read("--st-font"), size: 12, ...layout.font, color: text },
    hoverlabel: { bgcolor: ground, bordercolor: line, font: { color: text }, ...layout.hoverlabel },
    modebar: { bgcolor: "rgba(0,0,0,0)", color: line, activecolor: text, ...layout.modebar },
  };
  for (const name of ["xaxis", "yaxis", ...Object.keys(layout).filter((key) => /^[xy]axis\d+$/.test(key))]) {
    result[name] = { ...axis, ...layout[name] };
  }
  return { layout: result, ground };
}

// Run and settings as the address has them: two files of one figure are told apart.
const NAMED = { H: "H", tau_v: "v", tau_g: "g", epsilon: "e", rank: "r", ridge: "ridge", kernel: "kernel" };
function fileName(gd) {
  const link = new URL(location.href).searchParams;
  const settings = Object.keys(NAMED).filter((name) => link.has(name)).map((name) => NAMED[name] + link.get(name));
  const words = [gd.dntk.name, (link.get("run") ?? "").slice(0, 8), ...settings];
  return words.filter(Boolean).join("-").replace(/[^\w.-]+/g, "_");
}

function savePicture(gd, format) {
  const figure = { data: gd.data, layout: { ...gd.layout, paper_bgcolor: gd.dntk.ground } };
  const size = { width: gd.clientWidth, height: gd.clientHeight, scale: format === "png" ? 2 : 1 };
  return window.Plotly.downloadImage(figure, { format, filename: fileName(gd), ...size });
}

// Labels are written for plotly; a table has them as they are.
const ENTITIES = { "&lt;": "<", "&gt;": ">", "&amp;": "&", "&#37;": "%" };
const literal = (value) => (Number.isNaN(value) ? "" : String(value ?? "")).replace(/&(lt|gt|amp|#37);/g, (entity) => ENTITIES[entity]);

// One row per point; what hover skips is decoration. Columns are named after axis and colour bar titles, unless
// the trace's meta names them: {series, x, y, z, columns}, where columns name the entries of each point's customdata.
function table(gd) {
  const words = (title, fallback) => (title?.text ?? "").replace(/<[^>]*>/g, "") || fallback;
  const axis = (trace, letter) => gd.layout[`${letter}axis${(trace[`${letter}axis`] ?? letter).slice(1)}`];
  const rows = [];
  for (const trace of gd._fullData) {
    if (trace.hoverinfo === "skip" || trace.visible !== true) continue;
    const titles = { x: words(axis(trace, "x")?.title, "x"), y: words(axis(trace, "y")?.title, "y") };
    titles.z = words((trace.colorbar ?? gd._fullLayout.coloraxis?.colorbar)?.title, "value");
    const { series, x, y, z: value, columns } = { series: trace.name, columns: [], ...titles, ...trace.meta };
    const row = (i, j, custom, more) => {
      const details = Object.fromEntries(columns.map((name, n) => [name, custom?.[n]]));
      rows.push({ series, [x]: trace.x?.[i] ?? i, [y]: trace.y?.[j] ?? j, ...more, ...details });
    };
    if (trace.z) {
      Array.from(trace.z, (line, j) => Array.from(line, (z, i) => row(i, j, trace.customdata?.[j]?.[i], { [value]: z })));
    } else {
      Array.from(trace.y ?? trace.x ?? [], (_, i) => row(i, i, trace.customdata?.[i], {}));
    }
  }
  return rows;
}

function saveTable(gd) {
  const rows = table(gd);
  const columns = [...new Set(rows.flatMap(Object.keys))];
  const cell = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const lines = [columns, ...rows.map((row) => columns.map((column) => row[column]))];
  const text = lines.map((line) => line.map(literal).map(cell).join(",")).join("\n") + "\n";
  const anchor = document.createElement("a");
  anchor.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  anchor.download = `${fileName(gd)}.csv`;
  anchor.click();
  URL.revokeObjectURL(anchor.href);
}

const CONFIG = {
  displaylogo: false,
  showSendToCloud: false,
  // Where nothing hovers the toolbar would lie on the legend for good; a double tap brings the whole back.
  displayModeBar: matchMedia("(hover: none)").matches ? false : "hover",
  responsive: true,
  modeBarButtonsToRemove: ["toImage", "lasso2d", "select2d", "autoScale2d"],
};

// A typed array would arrive as an object.
const plain = (value) => (ArrayBuffer.isView(value) ? Array.from(value) : value ?? null);

// What a click opens may lie off the screen: once it stands, it is brought there.
const PATIENCE = 8000;
const opened = () => document.querySelector(".st-key-opened");
function bring() {
  const title = () => opened()?.querySelector("h4")?.textContent;
  const before = title(), end = performance.now() + PATIENCE;
  const look = () => {
    if (title() && title() !== before) return opened().scrollIntoView({ block: "nearest", behavior: "smooth" });
    if (performance.now() < end) setTimeout(look, 150);
  };
  look();
}

function listen(gd) {
  gd.on("plotly_click", ({ points }) => {
    const { x, y, customdata, curveNumber, pointNumber, data } = points[0];
    const place = { curve: curveNumber, point: pointNumber, series: data.name ?? "", axis: data.xaxis ?? "x" };
    gd.dntkClicked({ x, y, customdata: plain(customdata), ...place });
    bring();
  });
  gd.on("plotly_hover", ({ event }) => { gd.dntk.pointer = event; });
  gd.on("plotly_unhover", () => { gd.dntk.pointer = null; });
}

async function draw(gd, { plotly, figure, title, read, name }) {
  gd.setAttribute("aria-label", `${title}. ${read}`);
  const said = (place, text) => { place.textContent = text; place.hidden = !text; };
  said(gd.dntkPlace.querySelector(".dntk-title"), title);
  said(gd.dntkPlace.querySelector(".dntk-read"), read);
  gd.style.height = `${figure.layout.height}px`;
  // On a narrow screen a figure of many panels is pushed sideways rather than squeezed.
  gd.style.minWidth = `${figure.layout.meta?.minWidth ?? 0}px`;
  const Plotly = await loadPlotly(plotly);
  if (!gd.isConnected) return;
  const first = !gd.dntk;
  const { layout, ground } = themed(figure.layout, getComputedStyle(gd));
  gd.dntk = { ...gd.dntk, name, ground };
  await Plotly.react(gd, figure.data, { uirevision: "keep", ...layout }, CONFIG);
  if (first) listen(gd);
  if (gd.dntk.pointer) Plotly.Fx.hover(gd, gd.dntk.pointer);
  gd.dataset.drawn = String(Number(gd.dataset.drawn ?? 0) + 1);
}

// Of a page's figures only those on screen follow a slider at once; the others when they are scrolled to, or when the
// slider has come to rest.
const REST = 400;
const onScreen = new WeakSet();
const watcher = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    if (isIntersecting) onScreen.add(target); else onScreen.delete(target);
    if (isIntersecting) target.dntkLate?.();
  }
}, { rootMargin: "100px" });

function inTurn(gd, work) {
  clearTimeout(gd.dntkTimer);
  gd.dntkLate = () => {
    clearTimeout(gd.dntkTimer);
    gd.dntkLate = null;
    delete gd.dataset.waiting;
    work();
  };
  if (!gd.dntk || onScreen.has(gd)) return gd.dntkLate();
  gd.dataset.waiting = "";
  gd.dntkTimer = setTimeout(gd.dntkLate, REST);
}

// Also asked for when the theme changes, and when the page runs again with the same figure.
function show(gd, text) {
  const ground = getComputedStyle(gd).getPropertyValue("--st-background-color");
  if (gd.dntkText === text && gd.dntkGround === ground) return;
  gd.dntkText = text;
  gd.dntkGround = ground;
  inTurn(gd, () => draw(gd, JSON.parse(text)).catch((error) => {
    gd.textContent = `This figure could not be drawn: ${error.message}. Reload the page.`;
  }));
}

// While a slider moves, frames come ahead of what Streamlit sends, which may lag behind: that waits until it rests.
const sliding = () => "dntkSliding" in document.documentElement.dataset;

function rest(gd) {
  const text = gd.dntkSent;
  gd.dntkSent = null;
  if (text) show(gd, text);
}

export default function ({ data, parentElement, setTriggerValue }) {
  const gd = parentElement.querySelector(".dntk-plot");
  for (const button of parentElement.querySelectorAll("button[data-format]")) {
    const format = button.dataset.format;
    button.onclick = () => (format === "csv" ? saveTable(gd) : savePicture(gd, format));
  }
  gd.dntkPlace = parentElement;
  gd.dntkClicked = (point) => setTriggerValue("click", point);
  gd.dntkFrame = (text) => show(gd, text);
  gd.dntkRest = () => rest(gd);
  watcher.observe(gd);
  gd.dntkSent = new TextDecoder().decode(data);
  if (!gd.dntk || !sliding()) rest(gd);
  return () => {
    watcher.unobserve(gd);
    clearTimeout(gd.dntkTimer);
    window.Plotly?.purge(gd);
  };
}
