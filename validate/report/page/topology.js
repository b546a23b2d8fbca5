/* Leaves with their nodes; the way between leaves, from the measured pairs. */
const DENSE = 64, BETWEEN = 40;

/* For each pair of leaves the median, as a share of what good nodes reach, worst rail: rows send. Without
 * failed nodes, and of an even number of pairs the higher one: a slow NIC is no slow leaf. To a percent: the
 * pairs are counted by percent. The share of a rail that carries nothing anywhere is 0. */
function betweenLeaves() {
  const count = D.leaves.length, result = Array.from({ length: count }, () => new Array(count).fill(NaN)), PERCENTS = 201;
  const leafOf = Int32Array.from(nodes, n => n.verdict === FAIL ? -1 : n.leaf);
  for (const rail of rails) {
    if (!rail.bandwidth || count < 2) continue;
    const counts = new Uint32Array(count * count * PERCENTS), totals = new Uint32Array(count * count), { pairs, values } = rail.bandwidth, scale = 100 / (rail.bandwidth.reference || Infinity);
    values.forEach((value, i) => {
      const from = leafOf[pairs.from[i]], to = leafOf[pairs.to[i]], key = from * count + to;
      if (from < 0 || to < 0 || Number.isNaN(value)) return;
      counts[key * PERCENTS + Math.min(PERCENTS - 1, Math.round(value * scale))]++;
      totals[key]++;
    });
    for (let key = 0; key < count * count; key++) {
      if (!totals[key]) continue;
      let percent = 0;
      for (let seen = 0; (seen += counts[key * PERCENTS + percent]) * 2 <= totals[key]; percent++);
      const a = Math.floor(key / count), b = key % count;
      if (!(percent / 100 >= result[a][b])) result[a][b] = percent / 100;
    }
  }
  return result;
}

/* Verdicts that name an uplink between two leaves, by "a b". */
function uplinkVerdicts() {
  const found = new Map();
  rows.filter(r => r.code === 'uplink_slow' && r.verdict >= WARN).forEach(r => {
    for (const a of D.leaves) for (const b of D.leaves)
      if (a !== b && (r.part === `uplink ${a}-${b}` || r.part === `uplink ${b}-${a}`)) found.set(a + ' ' + b, r.verdict);
  });
  return found;
}

function shareColour(part) {
  const colour = ramp(RAMPS[isDark() ? 'dark' : 'light'], part);
  return { background: `rgb(${colour})`, ink: colour[0] * .3 + colour[1] * .59 + colour[2] * .11 > 140 ? '#10161d' : '#fff' };
}

function leafCard(leaf, name, between, uplinks) {
  const mine = nodes.filter(n => n.leaf === leaf), good = mine.filter(n => n.verdict === PASS || n.verdict === WARN || n.verdict === SKIP).length;
  let worst = NaN, verdict = 0;
  D.leaves.forEach((other, b) => {
    if (leaf < 0 || b === leaf) return;
    for (const part of [between[leaf][b], between[b][leaf]]) if (!(part >= worst)) worst = Number.isNaN(part) ? worst : part;
    verdict = Math.max(verdict, uplinks.get(name + ' ' + other) || 0);
  });
  const card = el('div', { class: 'leaf' + (mine.length > DENSE || N > 512 ? ' dense' : '') });
  const bar = el('div', { class: 'uplink' });
  bar.style.background = verdict >= WARN ? `var(--${VERDICTS[verdict]})` : Number.isNaN(worst) ? 'var(--line)' : shareColour(worst).background;
  if (leaf >= 0 && D.leaves.length > 1) card.append(bar);
  card.append(el('h3', {}, name), el('p', { class: 'muted small' }, `${good} of ${plural(mine.length, 'node')} passed`
    + (Number.isNaN(worst) ? '' : `; worst way to another leaf ${Math.round(100 * worst)} % of what good nodes reach`), verdict ? ' ' : '', verdict ? badge(verdict, 'uplink') : ''));
  card.append(el('div', { class: 'chips' }, ...mine.map(node => el('button', {
    type: 'button', class: 'chip ' + verdictClass(node.verdict), title: node.name + ': ' + nodeWord(node) + (node.message ? ', ' + node.message : ''),
    'aria-label': node.name + ', ' + nodeWord(node), onclick: () => showNode(node.name, true),
  }, node.name))));
  return card;
}

function betweenTable(between, uplinks) {
  const table = el('table', {}, el('thead', {}, el('tr', {}, el('td', {}), ...D.leaves.map(n => el('th', { scope: 'col' }, n)))), el('tbody'));
  D.leaves.forEach((name, a) => table.tBodies[0].append(el('tr', {}, el('th', { scope: 'row' }, name), ...D.leaves.map((other, b) => {
    const part = between[a][b], verdict = uplinks.get(name + ' ' + other) || 0, cell = el('td', {}, (verdict ? MARKS[verdict] + ' ' : '') + (Number.isNaN(part) ? '–' : Math.round(100 * part) + ' %'));
    if (verdict) { cell.style.background = `var(--${VERDICTS[verdict]})`; cell.style.color = 'var(--bg)'; }
    else if (!Number.isNaN(part)) { const c = shareColour(part); cell.style.background = c.background; cell.style.color = c.ink; }
    return cell;
  }))));
  return [el('h3', {}, 'Between leaves'), el('p', { class: 'muted' }, 'Median of the pairs of nodes that did not fail, in percent of what good nodes of the rail reach; the worst rail. A row sends.'), el('div', { class: 'scroll' }, table)];
}

/* Of each leaf and rail the node whose best figure is the lowest, as a share of what good nodes reach;
 * leaves with the lowest first. */
function leafRails() {
  const shown = rails.filter(rail => rail.bandwidth), list = D.leaves.map(name => ({ name, cells: shown.map(() => null) }));
  shown.forEach((rail, k) => {
    const [received, sent] = rail.bandwidth.best, { reference, mainLimit } = rail.bandwidth;
    for (const node of nodes) {
      const value = Math.min(received[node.index], sent[node.index]), cells = node.leaf >= 0 && list[node.leaf].cells;
      if (cells && value >= 0 && !(cells[k] && cells[k].value <= value)) cells[k] = { node, value, share: value / (reference || Infinity), isLow: mainLimit && value < mainLimit[0] };
    }
  });
  const worst = row => Math.min(Infinity, ...row.cells.filter(Boolean).map(cell => cell.share));
  return { shown, list: list.sort((a, b) => worst(a) - worst(b)) };
}

function leafRailsTable() {
  const { shown, list } = leafRails(), table = el('table', { id: 'leaf-rails' }, el('thead'), el('tbody'));
  const cellOf = cell => {
    if (!cell) return el('td', {}, '–');
    const colours = shareColour(cell.share), text = `${cell.isLow ? MARKS[FAIL] + ' ' : ''}${Math.round(100 * cell.share)} % `, td = el('td', {}, text, nodeButton(cell.node.name));
    if (cell.isLow) { td.style.background = 'var(--fail)'; td.style.color = 'var(--bg)'; } else { td.style.background = colours.background; td.style.color = colours.ink; }
    td.lastChild.style.color = 'inherit';
    return td;
  };
  headRow(table, [['Leaf'], ...shown.map(rail => [rail.name])]);
  return [el('h3', {}, 'Rails by leaf'), el('p', { class: 'muted' }, 'The lowest node of each leaf and rail, in percent of what good nodes reach, the lowest leaf first.'),
    ...tableOf(table, list, row => el('tr', {}, el('th', { scope: 'row' }, row.name), ...row.cells.map(cellOf)), ATTENTION_FIRST, 'leaf-rails-more')];
}

function topologyShow() { byId('topology').hidden = !N; }

function topologyStart() {
  if (!N) return;
  const between = betweenLeaves();
  const render = () => {
    const uplinks = uplinkVerdicts(), cards = D.leaves.map((name, leaf) => leafCard(leaf, name, between, uplinks));
    if (nodes.some(n => n.leaf < 0)) cards.push(leafCard(-1, D.leaves.length ? 'Leaf not known' : 'All nodes', between, uplinks));
    byId('leaves').replaceChildren(...cards);
    byId('rails-by-leaf').replaceChildren(...(D.leaves.length && rails.some(r => r.bandwidth) ? leafRailsTable() : []));
    byId('between').replaceChildren(...(D.leaves.length > 1 && D.leaves.length <= BETWEEN && rails.some(r => r.bandwidth) ? betweenTable(between, uplinks) : []));
  };
  byId('topology-note').textContent = D.leaves.length
    ? `${plural(N, 'node')} on ${plural(D.leaves.length, 'leaf').replace('leafs', 'leaves')}, as Slurm's topology says. The bar of a leaf is colored by its worst way to another leaf.`
    : 'Slurm knows no topology of these nodes.';
  render();
  colourListeners.push(render);
}
