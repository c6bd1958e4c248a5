// Where things stand. The circle of groups has radius 1; y grows downwards, as on a screen.

const BEND = 0.3;      // how far a link's middle stays from the centre: 0 through it, 1 straight
const ASIDE = 0.028;   // traffic keeps to the right, so that both directions are seen

class Geometry {
  constructor(system) {
    this.system = system;
    const g = system.groups, spacing = g > 1 ? 2 * Math.sin(Math.PI / Math.max(g, 3)) : 1.2;
    this.x = new Float64Array(system.routers);
    this.y = new Float64Array(system.routers);
    this.groupX = new Float64Array(g);
    this.groupY = new Float64Array(g);
    this.angle = new Float64Array(g);
    if (system.grid) {
      const [rows, columns] = system.grid;
      const across = Math.min(0.9 * spacing, 0.62);
      this.step = Math.min(across / columns, across / rows);
      this.halfWidth = this.step * columns / 2;
      this.halfHeight = this.step * rows / 2;
      this.dot = this.step * 0.42;
    } else if (system.leaves) { // two rows across the group's circle
      this.halfWidth = this.halfHeight = Math.min(0.45 * spacing, 0.3);
      this.step = 1.6 * this.halfWidth / Math.max(system.leaves, system.a - system.leaves);
      this.dot = Math.min(this.step * 0.36, this.halfWidth * 0.22);
    } else {
      this.halfWidth = this.halfHeight = Math.min(0.45 * spacing, 0.3);
      const ring = system.a > 1 ? this.halfWidth * 0.76 : 0;
      this.ring = ring;
      const apart = system.a > 1 ? 2 * ring * Math.sin(Math.PI / Math.max(system.a, 3)) : this.halfWidth;
      this.dot = Math.min(apart * 0.36, this.halfWidth * 0.22);
    }
    for (let group = 0; group < g; group++) {
      const angle = 2 * Math.PI * group / g - Math.PI / 2;
      this.angle[group] = angle;
      this.groupX[group] = g > 1 ? Math.cos(angle) : 0;
      this.groupY[group] = g > 1 ? Math.sin(angle) : 0;
    }
    for (let router = 0; router < system.routers; router++) this._put(router);
    const circle = g > 1 ? 1 : 0; // a single group stands in the middle
    this.extentX = circle + this.halfWidth + 0.13;
    this.extentY = circle + this.halfHeight + 0.13;
  }
  _put(router) {
    const group = this.system.groupOf(router), place = this.system.placeOfRouters[router], angle = this.angle[group];
    let dx, dy;
    if (this.system.grid) {
      const [, columns] = this.system.grid;
      dx = (place % columns + 0.5) * this.step - this.halfWidth;
      dy = (Math.floor(place / columns) + 0.5) * this.step - this.halfHeight;
    } else if (this.system.leaves) { // leaves outside, spines towards the middle of the network
      const leaves = this.system.leaves, isLeaf = place < leaves;
      const inRow = isLeaf ? place : place - leaves, row = isLeaf ? leaves : this.system.a - leaves;
      const aside = (inRow - (row - 1) / 2) * this.step, out = (isLeaf ? 0.42 : -0.42) * this.halfWidth;
      dx = out * Math.cos(angle) - aside * Math.sin(angle);
      dy = out * Math.sin(angle) + aside * Math.cos(angle);
    } else {
      const turn = angle + 2 * Math.PI * place / this.system.a;
      dx = this.ring * Math.cos(turn);
      dy = this.ring * Math.sin(turn);
    }
    this.x[router] = this.groupX[group] + dx;
    this.y[router] = this.groupY[group] + dy;
  }
  // Both ends of a link and the control point of its curve.
  curve(link) { return this.between(this.system.router[link], this.system.peer[link]); }
  between(from, to) {
    const s = this.system;
    const x0 = this.x[from], y0 = this.y[from], x1 = this.x[to], y1 = this.y[to];
    const length = Math.hypot(x1 - x0, y1 - y0) || 1;
    const inGroup = s.groupOf(from) === s.groupOf(to);
    const bend = inGroup ? 1 : BEND;
    const aside = inGroup ? length * 0.08 : ASIDE + 0.03 * length;
    const cx = (x0 + x1) / 2 * bend - (y1 - y0) / length * aside;
    const cy = (y0 + y1) / 2 * bend + (x1 - x0) / length * aside;
    return [x0, y0, cx, cy, x1, y1];
  }
  trace(ctx, link) { this.traceBetween(ctx, this.system.router[link], this.system.peer[link]); }
  traceBetween(ctx, from, to) {
    const [x0, y0, cx, cy, x1, y1] = this.between(from, to);
    ctx.moveTo(x0, y0);
    ctx.quadraticCurveTo(cx, cy, x1, y1);
  }
  // A point of the curve (t from 0 to 1) and its direction there.
  along(link, t) {
    const [x0, y0, cx, cy, x1, y1] = this.curve(link), u = 1 - t;
    return {
      x: u * u * x0 + 2 * u * t * cx + t * t * x1,
      y: u * u * y0 + 2 * u * t * cy + t * t * y1,
      angle: Math.atan2(u * (cy - y0) + t * (y1 - cy), u * (cx - x0) + t * (x1 - cx)),
    };
  }
  routerAt(x, y, within) {
    let best = -1, least = within;
    for (let router = 0; router < this.system.routers; router++) {
      const away = Math.hypot(this.x[router] - x, this.y[router] - y);
      if (away < least) { least = away; best = router; }
    }
    return best;
  }
  // The group whose place or number is at a point.
  groupAt(x, y) {
    for (let group = 0; group < this.system.groups; group++) {
      const [labelX, labelY] = this.label(group);
      const inside = Math.abs(x - this.groupX[group]) < this.halfWidth && Math.abs(y - this.groupY[group]) < this.halfHeight;
      if (inside || Math.hypot(x - labelX, y - labelY) < 0.05) return group;
    }
    return -1;
  }
  label(group) {
    const cos = Math.cos(this.angle[group]), sin = Math.sin(this.angle[group]);
    if (!this.system.grid) {
      const out = this.halfWidth + 0.055;
      return [this.groupX[group] + cos * out, this.groupY[group] + sin * out];
    }
    // Outside the block, where the ray from the centre leaves it.
    const reach = Math.min((this.halfWidth + 0.06) / Math.max(Math.abs(cos), 1e-9), (this.halfHeight + 0.06) / Math.max(Math.abs(sin), 1e-9));
    return [this.groupX[group] + cos * reach, this.groupY[group] + sin * reach];
  }
  linkNear(x, y, within, shown) {
    let best = -1, least = within;
    for (const link of this.system.remote) {
      if (!shown(link)) continue;
      for (let i = 1; i < 32; i++) {
        const point = this.along(link, i / 32);
        const away = Math.hypot(point.x - x, point.y - y);
        if (away < least) { least = away; best = link; }
      }
    }
    return best;
  }
}
