// What the user does.

const byId = (id) => document.getElementById(id);

class View {
  constructor({ version, system, runs }) {
    Object.assign(this, { version, system, runs });
    this.geometry = new Geometry(system);
    this.viewport = new Viewport(this.geometry);
    this.state = { frame: system.frames.count - 1, playing: false, measure: "utilisation", floor: 0, selection: null,
      waitingTop: Math.max(...runs.map((run) => run.waitingMost)) };
    for (const run of runs) run.portMost = run.occupancy.reduce((most, value) => Math.max(most, value), 1);
    this.panels = [];
    this._build();
    this._listen();
    this.resize();
  }
  _build() {
    const { system, runs } = this, first = runs[0].meta, ns = system.frames.ns;
    const load = first.load === null ? "" : ` at load ${first.load}`;
    byId("title").textContent = runs.map((run) => run.label).join(" and ") + ` under ${first.traffic}${load}`;
    byId("subtitle").textContent = `Dragonfly of ${system.hosts.toLocaleString("en")} hosts, ${system.routers.toLocaleString("en")} routers in ${system.groups} group${system.groups > 1 ? "s" : ""} (${system.group}, ${system.arrangement}) · ` +
      `${system.frames.count} frames of ${number(ns, 4)} ns from ${number(system.beginUs(0))} µs on · seed ${[...new Set(runs.map((run) => run.meta.seed))].join(", ")} · dragonfly-env ${this.version}`;
    runs.forEach((run, i) => {
      const figure = document.createElement("figure");
      figure.className = "panel";
      figure.innerHTML = `<figcaption><h2>${runKey(this, i)}</h2><dl class="figures"></dl></figcaption><canvas tabindex="0" aria-label="Network under ${escaped(run.label)}"></canvas>`;
      byId("panels").append(figure);
      this.panels.push(new Panel(figure.querySelector("canvas"), run, this.geometry, this.viewport));
    });
    byId("time").max = system.frames.count - 1;
    byId("find").max = system.routers - 1;
    this._legend();
    this._notes();
  }
  _legend() {
    const stops = (colours) => colours.map((colour, i) => `${colour} ${Math.round(100 * i / (colours.length - 1))}%`).join(",");
    const scale = (words, colours, ticks) => `<div class="scale"><p>${words}</p><div style="background:linear-gradient(90deg,${stops(colours)})"></div><div class="ticks">${ticks.map((tick) => `<span>${tick}</span>`).join("")}</div></div>`;
    const top = this.state.waitingTop;
    const links = this.state.measure === "stall" ? "<b>Links</b>: share of the frame without credits" : "<b>Links</b>: share of the frame that they are busy";
    byId("legend").innerHTML = scale(links, LINK_COLOURS, ["0 %", "25 %", "50 %", "75 %", "100 %"]) +
      scale("<b>Routers</b>: packets before their links", ROUTER_COLOURS, [0, 0.25, 0.5, 0.75, 1].map((share) => number(Math.round(top * share * share))));
  }
  _notes() {
    const { system } = this, notes = [];
    notes.push("Between groups, traffic keeps to the right: each direction is a line of its own." +
      (system.grid ? ` Inside a grid, a router's lower edge has the colour of its busiest ${system.classes[1]} link (row), its right edge that of its busiest ${system.classes[2]} link (column).`
        : " Inside a group, a line shows the busier direction.") +
      (system.leaves ? " Leaves, which have the hosts, stand in the outer row of a group, spines in the inner one." : ""));
    if (system.remote.length > MOST_IDLE) notes.push(`${system.remote.length.toLocaleString("en")} links join the groups: those that carried nothing are left out.`);
    if (system.dead.length) notes.push(`Dashed: ${system.dead.length.toLocaleString("en")} dead links. Crossed out: dead routers.`);
    notes.push("A router's packets: those in the queues of its ports, and those on the wire or in the buffer behind each (the occupancy that policies compare). Its scale is that of square roots.");
    notes.push("Not drawn: links to hosts (they are in a router's table); source queues of single hosts (only their sum is recorded); single packets, and what changes within a frame.");
    byId("notes").innerHTML = `<ul>${notes.map((note) => `<li>${note}</li>`).join("")}<li id="small" hidden>Routers are too small to be seen or clicked at this size: zoom in, or give a router's number.</li></ul>`;
  }
  resize() {
    const wide = byId("panels").clientWidth / this.panels.length;
    const flat = this.geometry.extentY / this.geometry.extentX;
    const height = Math.round(Math.max(300, Math.min(wide * flat, window.innerHeight * 0.66)));
    for (const panel of this.panels) panel.fit(height);
    this.show();
  }
  // Everything that depends on the state. Drawn once per picture of the screen, however often it is asked for.
  show() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => { this.waiting = false; this._show(); });
  }
  _show() {
    const { state, system } = this;
    byId("time").value = state.frame;
    const begin = system.beginUs(state.frame), end = system.beginUs(state.frame + 1);
    const digits = system.frames.ns >= 1000 ? 1 : system.frames.ns >= 10 ? 2 : 3;
    byId("clock").textContent = `${begin.toFixed(digits)} to ${end.toFixed(digits)} µs`;
    byId("time").setAttribute("aria-valuetext", byId("clock").textContent);
    byId("play").textContent = state.playing ? "Pause" : "Play";
    for (const panel of this.panels) {
      panel.draw(state);
      this._figures(panel);
    }
    byId("small").hidden = this.geometry.dot / this.panels[0].pixel >= 1.5;
    this._timeline();
    const details = byId("details"), views = { router: routerDetails, pair: pairDetails, group: groupDetails };
    details.innerHTML = (state.selection ? views[state.selection.kind] : overview)(this, state);
    for (const canvas of details.querySelectorAll("canvas[data-matrix]")) drawMatrix(canvas, this, state);
  }
  _figures(panel) {
    const now = (name) => panel.recording.figures[name][this.state.frame];
    const latency = now("latency_mean_ns"), minimal = now("minimal_fraction");
    const rows = [
      ["accepted", number(now("accepted_load"), 2), "load that was delivered, of the host links' bandwidth"],
      ["offered", number(now("offered_load"), 2), "load that hosts generated, of their links' bandwidth"],
      ["latency", latency === null ? "–" : `${number(latency / 1000)} µs`, "mean of the packets delivered in the frame, source queue included"],
      ["hops", number(now("hops_mean")), "mean number of links between routers"],
      ["minimal", minimal === null ? "–" : percent(minimal), "packets on minimal paths"],
      ["in network", short(now("packets_in_network")), "packets between source queue and destination"],
      ["at sources", short(now("packets_in_source_queues")), "packets in source queues"],
    ];
    panel.canvas.parentNode.querySelector(".figures").innerHTML = rows.map(([name, value, meaning]) => `<div title="${meaning}"><dt>${name}</dt><dd>${value}</dd></div>`).join("");
  }
  _timeline() {
    const figure = (name, scale = 1) => this.runs.map((run) => run.figures[name].map((value) => value === null ? null : value * scale));
    byId("timeline").innerHTML =
      chart(this.system, { title: "Accepted load", unit: "of the host links' bandwidth", rows: figure("accepted_load"), frame: this.state.frame, width: 470, height: 78 }) +
      chart(this.system, { title: "Mean latency", unit: "µs, of packets delivered, source queue included", rows: figure("latency_mean_ns", 0.001), frame: this.state.frame, width: 470, height: 78 });
  }
  go(frame) {
    this.state.frame = Math.max(0, Math.min(this.system.frames.count - 1, Math.round(frame)));
    this.show();
  }
  play(on) {
    this.state.playing = on;
    if (on && this.state.frame === this.system.frames.count - 1) this.state.frame = 0;
    let last = null;
    const tick = (now) => {
      if (!this.state.playing) return;
      const each = 1000 / Number(byId("speed").value);
      last ??= now;
      if (now - last >= each) {
        last = now;
        if (this.state.frame === this.system.frames.count - 1) this.state.playing = false;
        else this.state.frame += 1;
        this.show();
      }
      if (this.state.playing) requestAnimationFrame(tick);
    };
    if (on) requestAnimationFrame(tick);
    this.show();
  }
  select(selection) {
    const before = this.state.selection;
    if (before && selection && before.kind === "group" && selection.kind === "group" && before.group !== selection.group)
      selection = { kind: "pair", from: before.group, to: selection.group };
    this.state.selection = selection;
    byId("details").scrollTop = 0;
    byId("find").value = selection && selection.kind === "router" ? selection.router : "";
    this.show();
  }
  // The selected router or group's neighbour in number.
  step(by) {
    const { selection } = this.state, next = (value, of) => (value + by + of) % of;
    if (!selection || selection.kind === "router") this.select({ kind: "router", router: selection ? next(selection.router, this.system.routers) : 0 });
    else if (selection.kind === "group") { this.state.selection = null; this.select({ kind: "group", group: next(selection.group, this.system.groups) }); }
  }
  // About the middle of the picture, or about what is selected.
  zoom(factor) {
    const panel = this.panels[0], { selection } = this.state, { geometry } = this;
    if (selection && factor > 1) {
      const [xs, ys, i] = selection.kind === "router" ? [geometry.x, geometry.y, selection.router] : [geometry.groupX, geometry.groupY, selection.group ?? selection.from];
      [this.viewport.x, this.viewport.y] = [xs[i], ys[i]];
    }
    this.viewport.zoomAt(panel.width, panel.height, panel.width / 2, panel.height / 2, factor);
    this.show();
  }
  whole() { this.viewport.reset(); this.show(); }
  _listen() {
    byId("play").onclick = () => this.play(!this.state.playing);
    byId("back").onclick = () => this.go(this.state.frame - 1);
    byId("forth").onclick = () => this.go(this.state.frame + 1);
    byId("time").oninput = (event) => this.go(Number(event.target.value));
    byId("measure").onchange = (event) => { this.state.measure = event.target.value; this._legend(); this.show(); };
    byId("floor").onchange = (event) => { this.state.floor = Number(event.target.value); this.show(); };
    byId("find").onchange = (event) => {
      const router = Number(event.target.value), known = event.target.value !== "" && Number.isInteger(router) && router >= 0 && router < this.system.routers;
      event.target.setCustomValidity(known || event.target.value === "" ? "" : `routers are 0 to ${this.system.routers - 1}`);
      if (known) this.select({ kind: "router", router }); else event.target.reportValidity();
    };
    byId("whole").onclick = () => this.whole();
    window.addEventListener("resize", () => this.resize());
    document.addEventListener("keydown", (event) => this._key(event));
    document.addEventListener("click", (event) => this._click(event));
    for (const panel of this.panels) this._mouse(panel);
  }
  _key(event) {
    const typing = event.target.matches("input[type=number], select");
    if (event.key === "Escape") { this.select(null); return; }
    if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
    const far = event.shiftKey ? 10 : 1, last = this.system.frames.count - 1, { frame, playing } = this.state;
    const keys = {
      " ": () => this.play(!playing), ArrowLeft: () => this.go(frame - far), ArrowRight: () => this.go(frame + far),
      Home: () => this.go(0), End: () => this.go(last), ",": () => this.step(-1), ".": () => this.step(1),
      "+": () => this.zoom(1.5), "=": () => this.zoom(1.5), "-": () => this.zoom(1 / 1.5), 0: () => this.whole(),
    };
    if (!keys[event.key] || (event.key === " " && event.target.matches("button:not(#play)"))) return;
    event.preventDefault();
    keys[event.key]();
  }
  _click(event) {
    const { target } = event, line = target.closest("svg[data-chart]"), pick = target.closest("[data-router], [data-pair]");
    if (line) {
      const box = line.getBoundingClientRect(), left = Number(line.dataset.left), right = Number(line.dataset.right);
      const share = ((event.clientX - box.left) / box.width - left) / (right - left);
      this.go(share * (this.system.frames.count - 1));
    } else if (target.closest("#close")) this.select(null);
    else if (target.closest("#swap")) this.select({ kind: "pair", from: this.state.selection.to, to: this.state.selection.from });
    else if (target.matches("canvas[data-matrix]")) {
      const box = target.getBoundingClientRect(), g = this.system.groups;
      const to = Math.floor((event.clientX - box.left - 1) / target.width * g), from = Math.floor((event.clientY - box.top - 1) / target.width * g);
      if (from !== to && Math.min(from, to) >= 0 && Math.max(from, to) < g) this.select({ kind: "pair", from, to });
    } else if (pick && pick.dataset.router) this.select({ kind: "router", router: Number(pick.dataset.router) });
    else if (pick) { const [from, to] = pick.dataset.pair.split(",").map(Number); this.select({ kind: "pair", from, to }); }
  }
  _mouse(panel) {
    const { canvas } = panel;
    let held = null;
    canvas.addEventListener("pointerdown", (event) => { held = { x: event.clientX, y: event.clientY, moved: false }; canvas.setPointerCapture(event.pointerId); });
    canvas.addEventListener("pointerup", (event) => {
      if (held && !held.moved) this.select(panel.at(this.state, event.offsetX, event.offsetY));
      held = null;
    });
    canvas.addEventListener("pointercancel", () => { held = null; });
    canvas.addEventListener("pointerleave", () => { byId("tip").hidden = true; });
    canvas.addEventListener("pointermove", (event) => {
      if (held && (held.moved || Math.hypot(event.clientX - held.x, event.clientY - held.y) > 4)) {
        const k = this.viewport.scale(panel.width, panel.height);
        this.viewport.x -= (event.clientX - held.x) / k;
        this.viewport.y -= (event.clientY - held.y) / k;
        held = { x: event.clientX, y: event.clientY, moved: true };
        this.show();
      } else if (!held) this._tip(panel, event);
    });
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.viewport.zoomAt(panel.width, panel.height, event.offsetX, event.offsetY, Math.exp(-event.deltaY / 400));
      this.show();
    }, { passive: false });
  }
  _tip(panel, event) {
    const found = panel.at(this.state, event.offsetX, event.offsetY), tip = byId("tip"), { system } = this, run = panel.recording;
    canvasPointer(panel.canvas, found);
    tip.hidden = !found;
    if (!found) return;
    const value = (link) => percent(run.value(this.state.measure, this.state.frame, link));
    tip.textContent = found.kind === "router" ? `router ${found.router}, group ${system.groupOf(found.router)}\n${run.waitingAt(this.state.frame, found.router)} packets before its links`
      : found.kind === "group" ? `group ${found.group}`
        : `group ${found.from} → ${found.to}\nrouter ${system.router[found.link]} → ${system.peer[found.link]}: ${value(found.link)}`;
    tip.style.left = `${Math.min(event.clientX + 14, window.innerWidth - tip.offsetWidth - 6)}px`;
    tip.style.top = `${Math.min(event.clientY + 14, window.innerHeight - tip.offsetHeight - 6)}px`;
  }
}

function canvasPointer(canvas, found) { canvas.style.cursor = found ? "pointer" : "grab"; }

load().then((recorded) => { window.view = new View(recorded); document.documentElement.dataset.ready = "yes"; })
  .catch((error) => {
    const trouble = document.createElement("p");
    trouble.className = "trouble";
    trouble.textContent = `This page cannot be shown: ${error.message}`;
    document.body.prepend(trouble);
    document.documentElement.dataset.ready = "no";
    throw error;
  });
