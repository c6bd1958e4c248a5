// One picture of the network: groups on a circle, links and routers in colours.

// Both scales get darker all the way, so that they are read without colours too.
const LINK_COLOURS = META.heat;
const ROUTER_COLOURS = ["#ffffff", "#d3e3f3", "#9cc4e4", "#5a9bd0", "#2a6db0", "#12447f", "#071f47"];
const LEVELS = 24;
const MANY_IDLE = 300; // idle links that would fill the circle are drawn fainter
const MOST_IDLE = 6000; // more links than that between groups hide each other: idle ones are left out

function mixed(colours, share) {
  const place = Math.max(0, Math.min(1, share)) * (colours.length - 1);
  const low = Math.min(colours.length - 2, Math.floor(place)), part = place - low;
  const channel = (text, i) => parseInt(text.slice(1 + 2 * i, 3 + 2 * i), 16);
  const mix = [0, 1, 2].map((i) => Math.round(channel(colours[low], i) * (1 - part) + channel(colours[low + 1], i) * part));
  return `rgb(${mix.join(",")})`;
}
const palette = (colours) => Array.from({ length: LEVELS }, (_, i) => mixed(colours, i / (LEVELS - 1)));
const LINK_PALETTE = palette(LINK_COLOURS);
const ROUTER_PALETTE = palette(ROUTER_COLOURS);
const level = (share) => Math.max(0, Math.min(LEVELS - 1, Math.round(share * (LEVELS - 1))));
const linkColour = (share) => LINK_PALETTE[level(share)];
const routerColour = (share) => ROUTER_PALETTE[level(share)];

// Where on the plane the pictures look; both panels share it.
class Viewport {
  constructor(geometry) { this.geometry = geometry; this.reset(); }
  reset() { this.zoom = 1; this.x = 0; this.y = 0; }
  scale(width, height) {
    return this.zoom * Math.min(width / (2 * this.geometry.extentX), height / (2 * this.geometry.extentY));
  }
  toWorld(width, height, px, py) {
    const k = this.scale(width, height);
    return [(px - width / 2) / k + this.x, (py - height / 2) / k + this.y];
  }
  toScreen(width, height, x, y) {
    const k = this.scale(width, height);
    return [(x - this.x) * k + width / 2, (y - this.y) * k + height / 2];
  }
  zoomAt(width, height, px, py, factor) {
    const [x, y] = this.toWorld(width, height, px, py);
    this.zoom = Math.max(1, Math.min(80, this.zoom * factor));
    const [nx, ny] = this.toWorld(width, height, px, py);
    this.x += x - nx;
    this.y += y - ny;
    if (this.zoom === 1) this.reset();
  }
}

class Panel {
  constructor(canvas, recording, geometry, viewport) {
    Object.assign(this, { canvas, recording, geometry, viewport, system: recording.system });
    this.ctx = canvas.getContext("2d");
    this.thick = Math.max(1.3, Math.min(3.4, 3.4 * Math.sqrt(150 / Math.max(1, recording.system.remote.length))));
  }
  fit(height) {
    const ratio = window.devicePixelRatio || 1;
    this.canvas.style.height = `${height}px`;
    this.width = this.canvas.clientWidth;
    this.height = height;
    this.canvas.width = Math.round(this.width * ratio);
    this.canvas.height = Math.round(height * ratio);
  }
  shows(state, link) { return this.recording.value(state.measure, state.frame, link) >= state.floor; }
  draw(state) {
    const { ctx, viewport } = this, ratio = this.canvas.width / this.width;
    const k = viewport.scale(this.width, this.height);
    this.pixel = 1 / k;
    ctx.setTransform(1, 0, 0, 1, 0, 0);
    ctx.fillStyle = "#fff";
    ctx.fillRect(0, 0, this.canvas.width, this.canvas.height);
    ctx.setTransform(k * ratio, 0, 0, k * ratio, (this.width / 2 - viewport.x * k) * ratio, (this.height / 2 - viewport.y * k) * ratio);
    ctx.lineCap = "round";
    const dimmed = state.selection !== null;
    ctx.globalAlpha = dimmed ? 0.3 : 1;
    this._remote(state);
    ctx.globalAlpha = 1;
    this._groups(state);
    this._inside(state);
    this._routers(state);
    this._dead();
    if (dimmed) this._selection(state);
    this._labels(state);
  }
  // Links by level of colour: one path and one stroke for each, busy ones last and on top.
  _strokes(state, items, valueOf, trace, thin, thick) {
    const byLevel = Array.from({ length: LEVELS }, () => []);
    for (const item of items) {
      const value = valueOf(item);
      if (value >= state.floor) byLevel[level(value)].push(item);
    }
    const { ctx, pixel } = this, alpha = ctx.globalAlpha;
    byLevel.forEach((some, i) => {
      if (some.length === 0) return;
      ctx.globalAlpha = alpha * (i === 0 && some.length > MANY_IDLE ? 0.35 : 1);
      ctx.beginPath();
      for (const item of some) trace(item);
      ctx.strokeStyle = LINK_PALETTE[i];
      ctx.lineWidth = (thin + (thick - thin) * i / (LEVELS - 1)) * pixel;
      ctx.stroke();
    });
    ctx.globalAlpha = alpha;
  }
  _remote(state) {
    const { recording, system } = this;
    let links = system.remote;
    if (links.length > MOST_IDLE) links = links.filter((link) => recording.packets[state.frame * system.numLinks + link] > 0);
    this._strokes(state, links, (link) => recording.value(state.measure, state.frame, link),
      (link) => this.geometry.trace(this.ctx, link), 0.5, this.thick);
  }
  _groups(state) {
    const { ctx, geometry, system, pixel } = this;
    const picked = state.selection && state.selection.kind === "pair" ? [state.selection.from, state.selection.to]
      : state.selection && state.selection.kind === "group" ? [state.selection.group] : [];
    for (let group = 0; group < system.groups; group++) {
      ctx.beginPath();
      if (system.grid) {
        ctx.rect(geometry.groupX[group] - geometry.halfWidth - 2 * pixel, geometry.groupY[group] - geometry.halfHeight - 2 * pixel,
          2 * geometry.halfWidth + 4 * pixel, 2 * geometry.halfHeight + 4 * pixel);
      } else {
        ctx.arc(geometry.groupX[group], geometry.groupY[group], geometry.halfWidth, 0, 2 * Math.PI);
      }
      ctx.fillStyle = "#f8fafc";
      ctx.fill();
      ctx.strokeStyle = picked.includes(group) ? "#10131a" : "#bcc5d0";
      ctx.lineWidth = (picked.includes(group) ? 2.2 : 0.8) * pixel;
      ctx.stroke();
    }
  }
  _inside(state) {
    const { ctx, geometry, recording, system } = this;
    if (system.grid) return; // as edges of the routers: see _routers
    const trace = ([link]) => {
      const from = system.router[link], to = system.peer[link];
      ctx.moveTo(geometry.x[from], geometry.y[from]);
      ctx.lineTo(geometry.x[to], geometry.y[to]);
    };
    const busier = (pair) => Math.max(...pair.map((link) => recording.value(state.measure, state.frame, link)));
    this._strokes(state, system.inside, busier, trace, 0.5, 2.4);
  }
  _routers(state) {
    const { ctx, geometry, recording, system, pixel } = this;
    const waiting = recording.waiting(state.frame), size = geometry.dot;
    ctx.lineWidth = Math.min(0.9 * pixel, size * 0.3);
    for (let router = 0; router < system.routers; router++) {
      ctx.fillStyle = routerColour(Math.sqrt(waiting[router] / state.waitingTop));
      ctx.strokeStyle = "#3b4656";
      const x = geometry.x[router], y = geometry.y[router];
      ctx.beginPath();
      if (system.grid) ctx.rect(x - size, y - size, 2 * size, 2 * size);
      else ctx.arc(x, y, size, 0, 2 * Math.PI);
      ctx.fill();
      if (system.grid) this._edges(state, router, x, y, size);
      else ctx.stroke();
    }
  }
  // Dead links are dashed, dead routers crossed out.
  _dead() {
    const { ctx, geometry, system, pixel } = this, size = geometry.dot;
    ctx.strokeStyle = "#c2263e";
    ctx.lineWidth = 1.2 * pixel;
    ctx.setLineDash([5 * pixel, 4 * pixel]);
    ctx.beginPath();
    for (const [from, to] of system.dead) {
      if (!system.grid || system.groupOf(from) !== system.groupOf(to)) geometry.traceBetween(ctx, from, to);
    }
    ctx.stroke();
    ctx.setLineDash([]);
    ctx.beginPath();
    for (const router of system.deadRouters) {
      const x = geometry.x[router], y = geometry.y[router];
      for (const side of [-size, size]) {
        ctx.moveTo(x - size, y - side);
        ctx.lineTo(x + size, y + side);
      }
    }
    ctx.stroke();
  }
  // A grid's links are too many to be drawn: a router has the colour of its busiest row link below, of its busiest
  // column link at its right.
  _edges(state, router, x, y, size) {
    const { ctx, recording, system } = this, busiest = [0, 0, 0, 0];
    for (let port = system.p; port < system.radix; port++) {
      const link = system.linkAt[router * system.radix + port];
      const kind = system.portClass[port];
      if (link >= 0) busiest[kind] = Math.max(busiest[kind], recording.value(state.measure, state.frame, link));
    }
    const strip = size * 0.52;
    if (busiest[1] >= state.floor) {
      ctx.fillStyle = linkColour(busiest[1]);
      ctx.fillRect(x - size, y + size - strip, 2 * size, strip);
    }
    if (busiest[2] >= state.floor) {
      ctx.fillStyle = linkColour(busiest[2]);
      ctx.fillRect(x + size - strip, y - size, strip, 2 * size - strip);
    }
  }
  _selection(state) {
    const { ctx, geometry, recording, system, pixel } = this, selection = state.selection;
    let links = [];
    if (selection.kind === "router") {
      links = [...system.linksOf(selection.router), ...system.arriving[selection.router]].filter((link) => system.peer[link] >= 0);
    } else if (selection.kind === "pair") {
      links = [...system.between(selection.from, selection.to), ...system.between(selection.to, selection.from)];
    } else {
      links = system.remote.filter((link) => system.groupOf(system.router[link]) === selection.group || system.groupOf(system.peer[link]) === selection.group);
    }
    const wide = selection.kind === "group" ? 0 : 1.2;
    for (const link of links.sort((a, b) => recording.value(state.measure, state.frame, a) - recording.value(state.measure, state.frame, b))) {
      const value = recording.value(state.measure, state.frame, link);
      ctx.beginPath();
      geometry.trace(ctx, link);
      const remote = system.linkClass[link] === system.globalClass, width = !wide ? 0.9 + 2.6 * value : remote ? 2.6 + 2.4 * value : 1.4 + 1.2 * value;
      if (wide && remote) {
        ctx.strokeStyle = "#5d6877";
        ctx.lineWidth = (width + wide) * pixel;
        ctx.stroke();
      }
      ctx.strokeStyle = linkColour(value);
      ctx.lineWidth = width * pixel;
      ctx.stroke();
    }
    if (wide) for (const link of links) this._arrow(link);
    if (selection.kind === "router") {
      const x = geometry.x[selection.router], y = geometry.y[selection.router];
      ctx.beginPath();
      ctx.arc(x, y, geometry.dot * 1.2 + 4 * pixel, 0, 2 * Math.PI);
      ctx.strokeStyle = "#10131a";
      ctx.lineWidth = 2.2 * pixel;
      ctx.stroke();
    }
  }
  _arrow(link) {
    const { ctx, geometry, system, pixel } = this;
    if (system.groupOf(system.router[link]) === system.groupOf(system.peer[link])) return;
    const tip = geometry.along(link, 0.36), size = 6 * pixel;
    ctx.beginPath();
    for (const turn of [0, 2.5, -2.5]) {
      const x = tip.x + size * Math.cos(tip.angle + turn), y = tip.y + size * Math.sin(tip.angle + turn);
      if (turn === 0) ctx.moveTo(x, y); else ctx.lineTo(x, y);
    }
    ctx.closePath();
    ctx.fillStyle = "#10131a";
    ctx.fill();
  }
  _labels(state) {
    const { ctx, geometry, system, viewport } = this, ratio = this.canvas.width / this.width;
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    ctx.font = "12px system-ui, 'DejaVu Sans', sans-serif";
    ctx.textAlign = "center";
    ctx.textBaseline = "middle";
    const around = 2 * Math.PI * viewport.scale(this.width, this.height);
    const each = Math.max(1, Math.ceil(24 * system.groups / around));
    for (let group = 0; group < system.groups; group += each) {
      const [x, y] = viewport.toScreen(this.width, this.height, ...geometry.label(group));
      ctx.lineWidth = 3;
      ctx.strokeStyle = "#fff";
      ctx.strokeText(String(group), x, y);
      ctx.fillStyle = "#1c2430";
      ctx.fillText(String(group), x, y);
    }
    if (viewport.zoom > 1) {
      ctx.textAlign = "right";
      ctx.fillText(`× ${viewport.zoom.toFixed(1)}`, this.width - 8, 12);
    }
  }
  // What is at a point of the canvas: a router, a group, a link between groups, or nothing.
  at(state, px, py) {
    const { geometry, viewport, system } = this;
    const [x, y] = viewport.toWorld(this.width, this.height, px, py), pixel = 1 / viewport.scale(this.width, this.height);
    const router = geometry.routerAt(x, y, Math.max(geometry.dot * 1.2, Math.min(geometry.dot + 3 * pixel, geometry.dot * 2)));
    if (router >= 0 && geometry.dot > 0.9 * pixel) return { kind: "router", router };
    const group = geometry.groupAt(x, y);
    if (group >= 0) return { kind: "group", group };
    const link = geometry.linkNear(x, y, 5 * pixel, (one) => this.shows(state, one));
    if (link < 0) return null;
    return { kind: "pair", from: system.groupOf(system.router[link]), to: system.groupOf(system.peer[link]), link };
  }
}
