// The column at the side: what is selected, of both runs, in numbers.

const runKey = (view, run) => `<span class="key${run ? " dashed" : ""}" style="border-color:${RUN_COLOURS[run]}"></span> ${escaped(view.runs[run].label)}`;
const heads = (view, span = "") => view.runs.map((_, run) => `<th ${span}>${runKey(view, run)}</th>`).join("");
const closing = '<button type="button" id="close" title="Back to the overview (Escape)" aria-label="Back to the overview">×</button>';

function queueBar(recording, frame, link, top) {
  const own = recording.queuedAt(frame, link), all = recording.occupancyAt(frame, link);
  const wide = (packets) => `${Math.min(100, 100 * packets / top).toFixed(1)}%`;
  const words = `${own} in its queues, ${all - own} on the wire or in the buffer behind it`;
  return `<div class="queue" title="${words}"><div class="bar"><i style="width:${wide(all)};background:#9cc4e4"></i><i style="width:${wide(own)};background:#12447f"></i></div><b>${own}+${all - own}</b></div>`;
}
const busyChip = (recording, measure, frame, link) => {
  const value = recording.value(measure, frame, link);
  return `<span class="chip" style="background:${linkColour(value)}"></span>${percent(value)}`;
};

// Where a link ends, in words.
function portLeadsTo(system, link) {
  const port = system.port[link], router = system.router[link];
  if (system.peer[link] < 0) return `host ${system.firstHosts[router] + port}`;
  const peer = system.peer[link];
  return system.groupOf(peer) === system.groupOf(router) ? `router ${peer}` : `router ${peer} <span class="unit">(group ${system.groupOf(peer)})</span>`;
}

function routerDetails(view, state) {
  const { system, runs } = view, router = state.selection.router, links = system.linksOf(router);
  const top = Math.max(1, ...runs.map((run) => run.portMost));
  const measureHead = state.measure === "stall" ? "stands" : "busy";
  const rows = links.map((link) => {
    const kind = system.classes[system.linkClass[link]], many = system.portLinks[system.port[link]];
    const cells = runs.map((run) => `<td>${queueBar(run, state.frame, link, top)}</td><td class="n">${busyChip(run, state.measure, state.frame, link)}</td>`);
    const pick = system.peer[link] >= 0 ? `class="pick" data-router="${system.peer[link]}" title="${kind} link: go to router ${system.peer[link]}"` : `title="${kind} link"`;
    return `<tr ${pick}><td>${system.port[link]}</td><td>${portLeadsTo(system, link)}${many > 1 ? ` <span class="unit" title="${many} parallel links">×${many}</span>` : ""}</td>${cells.join("")}</tr>`;
  });
  const waiting = runs.map((run) => run.overTime((frame) => run.waitingAt(frame, router)));
  return `<div class="top"><h2>Router ${router}</h2>${closing}</div>
    <p>Group ${system.groupOf(router)}, ${system.placeOf(router)}; ${system.hostsOf(router)}</p>` +
    chart(system, { title: "Packets before its links", unit: "packets, queues and room taken behind the links", rows: waiting, frame: state.frame }) +
    `<h3>Its ports, at the end of this frame</h3>
    <p class="unit"><span class="chip" style="background:#12447f"></span>packets in the port's queues + <span class="chip" style="background:#9cc4e4"></span>on the wire or in the buffer behind it; full bar: ${top}</p>
    <table id="ports"><thead><tr><th>port</th><th>leads to</th>${heads(view, 'colspan="2"')}</tr>
    <tr><th></th><th></th>${runs.map(() => `<th>queue</th><th class="n">${measureHead}</th>`).join("")}</tr></thead><tbody>${rows.join("")}</tbody></table>`;
}

function pairDetails(view, state) {
  const { system, runs } = view, { from, to } = state.selection;
  const loads = (a, b) => runs.map((run) => run.overTime((frame) => run.load(run.deliveredBetween(frame, a, b))));
  const links = system.between(from, to), back = system.between(to, from);
  const busy = runs.map((run) => run.overTime((frame) => links.length === 0 ? null
    : links.reduce((sum, link) => sum + run.utilisation(frame, link), 0) / links.length));
  const latency = runs.map((run) => run.overTime((frame) => {
    const ns = run.latencyBetween(frame, from, to);
    return ns === null ? null : ns / 1000;
  }));
  const rows = [...links, ...back].map((link) => `<tr><td>${system.groupOf(system.router[link])} → ${system.groupOf(system.peer[link])}</td>` +
    `<td>router <button class="link" type="button" data-router="${system.router[link]}">${system.router[link]}</button> port ${system.port[link]} → router ` +
    `<button class="link" type="button" data-router="${system.peer[link]}">${system.peer[link]}</button></td>` +
    runs.map((run) => `<td class="n">${busyChip(run, state.measure, state.frame, link)}</td>`).join("") + "</tr>");
  const now = (figure) => runs.map((run, i) => `<td class="n">${figure(run, i)}</td>`).join("");
  return `<div class="top"><h2>Group ${from} → group ${to}</h2><span><button type="button" id="swap" title="The other direction">⇄ ${to} → ${from}</button> ${closing}</span></div>
    <table id="pair"><thead><tr><th>in this frame</th>${runs.map((_, run) => `<th class="n">${runKey(view, run)}</th>`).join("")}</tr></thead><tbody>
    <tr><td>packets delivered from ${from} to ${to}</td>${now((run) => number(run.deliveredBetween(state.frame, from, to)))}</tr>
    <tr><td>the other way, from ${to} to ${from}</td>${now((run) => number(run.deliveredBetween(state.frame, to, from)))}</tr>
    <tr><td>mean latency, µs</td>${now((_, i) => number(latency[i][state.frame]))}</tr></tbody></table>` +
    chart(system, { title: `Delivered, from hosts of ${from} to hosts of ${to}`, unit: "of all that a group's hosts can send", rows: loads(from, to), frame: state.frame }) +
    chart(system, { title: "Mean latency of those packets", unit: "µs", rows: latency, frame: state.frame }) +
    (links.length ? chart(system, { title: "Their direct links are busy", unit: `part of the time, mean of ${links.length}; detours of others included`, rows: busy, frame: state.frame, top: 1 })
      : "<p>No link joins the two groups directly.</p>") +
    `<h3>Direct links, both directions</h3><table><thead><tr><th></th><th>from, to</th>${runs.map((_, run) => `<th class="n">${runKey(view, run)}</th>`).join("")}</tr></thead><tbody>${rows.join("")}</tbody></table>`;
}

function groupDetails(view, state) {
  const { system, runs } = view, group = state.selection.group;
  const others = Array.from({ length: system.groups }, (_, other) => other);
  const most = (other) => Math.max(...runs.map((run) => run.deliveredBetween(state.frame, group, other)));
  const mean = (run, other) => {
    const links = system.between(group, other);
    return links.length ? links.reduce((sum, link) => sum + run.value(state.measure, state.frame, link), 0) / links.length : null;
  };
  const rows = others.map((other) => ({ other, most: most(other), busy: Math.max(...runs.map((run) => mean(run, other) ?? 0)) }))
    .sort((a, b) => b.most - a.most || b.busy - a.busy || a.other - b.other)
    .map(({ other }) => `<tr ${other === group ? "" : `class="pick" data-pair="${group},${other}"`}><td>${other === group ? "itself" : `group ${other}`}</td>` + runs.map((run) => {
      const busy = other === group ? null : mean(run, other);
      return `<td class="n">${number(run.deliveredBetween(state.frame, group, other))}</td><td class="n">${busy === null ? "–" : `<span class="chip" style="background:${linkColour(busy)}"></span>${percent(busy)}`}</td>`;
    }).join("") + "</tr>");
  const sent = runs.map((run) => run.overTime((frame) => run.load(others.reduce((sum, other) => sum + run.deliveredBetween(frame, group, other), 0))));
  return `<div class="top"><h2>Group ${group}</h2>${closing}</div>
    <p>${system.routersOf(group)}. Click a second group for the traffic between the two.</p>` +
    chart(system, { title: "Delivered, of what its hosts sent", unit: "of all that they can send", rows: sent, frame: state.frame }) +
    `<h3>To which groups, in this frame</h3><table><thead><tr><th></th>${heads(view, 'colspan="2"')}</tr>
    <tr><th>to</th>${runs.map(() => `<th class="n">packets</th><th class="n">${state.measure === "stall" ? "links stand" : "links busy"}</th>`).join("")}</tr></thead><tbody>${rows.join("")}</tbody></table>`;
}

function overview(view, state) {
  const { system, runs } = view;
  const lists = runs.map((run, i) => {
    const hot = system.remote.concat(system.inside.flat()).map((link) => [run.value(state.measure, state.frame, link), link])
      .sort((a, b) => b[0] - a[0] || a[1] - b[1]).slice(0, runs.length > 1 ? 5 : 10);
    const rows = hot.map(([, link]) => {
      const from = system.groupOf(system.router[link]), to = system.groupOf(system.peer[link]);
      const pick = from === to ? `data-router="${system.router[link]}"` : `data-pair="${from},${to}"`;
      return `<tr class="pick" ${pick}><td>${from === to ? `in group ${from}` : `group ${from} → ${to}`}</td><td>router ${system.router[link]} → ${system.peer[link]}</td><td class="n">${busyChip(run, state.measure, state.frame, link)}</td></tr>`;
    });
    return `<h3>${runKey(view, i)}: links that ${state.measure === "stall" ? "stand still" : "are busy"} most now</h3><table><tbody>${rows.join("")}</tbody></table>`;
  });
  const matrices = runs.map((_, i) => `<figure><figcaption>${runKey(view, i)}</figcaption><canvas data-matrix="${i}"></canvas></figure>`);
  return `<h2>Look closer</h2><p>Click a <b>router</b> for its queues, a <b>link</b> or a square below for the traffic between two groups, a <b>group's</b> number for all that it sends.</p>
    ${lists.join("")}
    ${system.groups > 1 ? `<h3>From group (row) to group (column): the busiest direct link</h3><div class="matrices">${matrices.join("")}</div>` : ""}
    <h3>Keys</h3><dl class="keys"><dt><kbd>space</kbd></dt><dd>play, pause</dd><dt><kbd>←</kbd> <kbd>→</kbd></dt><dd>one frame, with <kbd>shift</kbd> ten</dd>
    <dt><kbd>home</kbd> <kbd>end</kbd></dt><dd>first, last frame</dd><dt><kbd>,</kbd> <kbd>.</kbd></dt><dd>previous, next router or group</dd>
    <dt><kbd>+</kbd> <kbd>−</kbd> <kbd>0</kbd></dt><dd>zoom in, out, whole network (or wheel and drag)</dd><dt><kbd>esc</kbd></dt><dd>back to this overview</dd></dl>`;
}

function drawMatrix(canvas, view, state) {
  const { system } = view, run = view.runs[Number(canvas.dataset.matrix)], g = system.groups;
  const room = document.getElementById("details").clientWidth - 34; // its padding, and a border
  const cell = Math.max(1, Math.floor(Math.min(330, view.runs.length > 1 ? (room - 16) / 2 : room) / g));
  canvas.width = canvas.height = cell * g;
  const ctx = canvas.getContext("2d");
  ctx.fillStyle = "#fff";
  ctx.fillRect(0, 0, cell * g, cell * g);
  for (const [key, links] of system.pairs) {
    const value = Math.max(...links.map((link) => run.value(state.measure, state.frame, link)));
    if (value < state.floor) continue;
    ctx.fillStyle = linkColour(value);
    ctx.fillRect((key % g) * cell, Math.floor(key / g) * cell, cell, cell);
  }
}
