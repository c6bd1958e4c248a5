// Lines over time, as SVG: a colour per policy, and dashes for the second run.

const RUN_COLOURS = META.runs.map((run) => run.color);

function number(value, digits = 3) {
  if (value === null || !Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1000) return Math.round(value).toLocaleString("en");
  return String(Number(value.toPrecision(digits)));
}
// Few letters, for what may be millions.
const short = (count) => count >= 1e6 ? `${number(count / 1e6, 2)} M` : count >= 1e4 ? `${number(count / 1e3, 2)} k` : number(count);
const percent = (share) => `${Math.round(share * 100)} %`;

// The next of 1, 2, 5, 10, .. from a value on.
function rounded(top) {
  if (!(top > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(top));
  return [1, 1.5, 2, 3, 4, 5, 6, 8, 10].find((step) => step * power >= top * 0.9999) * power;
}

const escaped = (text) => String(text).replace(/[&<>"]/g, (sign) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[sign]);

// rows: one array of numbers (or null) per run, by frame. Clicks on it are main.js's.
function chart(system, { title, unit, rows, frame, top = 0, height = 92, width = 420 }) {
  const left = 44, right = 10, above = 8, below = 18, count = system.frames.count;
  const most = rounded(Math.max(top, ...rows.flat().filter((value) => value !== null)));
  const x = (i) => left + (width - left - right) * (count > 1 ? i / (count - 1) : 0.5);
  const y = (value) => above + (height - above - below) * (1 - value / most);
  const lines = rows.map((row, run) => {
    let path = "", broken = true;
    row.forEach((value, i) => {
      if (value === null) { broken = true; return; }
      path += `${broken ? "M" : "L"}${x(i).toFixed(1)} ${y(value).toFixed(1)}`;
      broken = false;
    });
    const dots = row.map((value, i) => value !== null && i === frame ? `<circle cx="${x(i).toFixed(1)}" cy="${y(value).toFixed(1)}" r="3.2" fill="${RUN_COLOURS[run]}"/>` : "").join("");
    return `<path d="${path}" fill="none" stroke="${RUN_COLOURS[run]}" stroke-width="1.8" ${run ? 'stroke-dasharray="5 3"' : ""}/>${dots}`;
  });
  const text = (px, py, anchor, words) => `<text x="${px}" y="${py}" text-anchor="${anchor}" font-size="11" fill="#3f4a59">${words}</text>`;
  const grid = [0, 0.5, 1].map((share) => `<line x1="${left}" x2="${width - right}" y1="${y(share * most)}" y2="${y(share * most)}" stroke="#e3e7ec"/>` +
    text(left - 5, y(share * most) + 4, "end", number(share * most)));
  const firstUs = number(system.beginUs(0)), lastUs = number(system.beginUs(count));
  return `<div class="chart"><p><b>${escaped(title)}</b> <span class="unit">${escaped(unit)}</span></p>` +
    `<svg viewBox="0 0 ${width} ${height}" data-chart data-left="${left / width}" data-right="${1 - right / width}" role="img" aria-label="${escaped(title)}">` +
    grid.join("") + `<line x1="${x(frame)}" x2="${x(frame)}" y1="${above}" y2="${height - below}" stroke="#10131a" stroke-width="1"/>` + lines.join("") +
    text(left, height - 5, "start", `${firstUs} µs`) + text(width - right, height - 5, "end", `${lastUs} µs`) + "</svg></div>";
}
