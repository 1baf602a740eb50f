// A replay of a change, on the page and in the file that it saves.
'use strict';

const byId = id => document.getElementById(id);
const live = byId('live');
const saved = document.body.classList.contains('saved'); // a replay in a file: there is no kubelet to ask
document.documentElement.classList.add('js');

// What is shown is a function of one number, at = the stage + the part of it that has passed.

// ways has the two boxes between which the mark travels, and the lane below them.
const ways = {
  read: ['sources', 'sources'], send: ['sources', 'mux'], mux: ['mux', 'storage'], merge: ['storage', 'storage'], update: ['storage', 'loop'],
  list: ['loop', 'docker', 'list'], listed: ['docker', 'loop', 'list'], work: ['loop', 'workers'], begin: ['workers', 'docker'],
  end: ['docker', 'workers'], event: ['docker', 'loop', 'wake'], ended: ['workers', 'loop', 'wake'],
}; // all others: the loop decides
const travels = .45; // the part of a stage in which the mark moves; in the rest it stands, to be read
const player = byId('player'), scrub = byId('scrub'), caption = byId('caption');
const still = matchMedia('(prefers-reduced-motion: reduce)');
let replayed = '', ofPod = '', stages = [], at = 0, playing = false, last = 0, shown = -1;

// tell shows the change of a document.
function tell(html, number, pod, from) {
  byId('list').replaceChildren(html.getElementById('stages'));
  byId('who').replaceChildren(html.getElementById('of-pods') ?? '');
  stages = [...byId('stages').children];
  [replayed, ofPod, shown] = [number, pod, -1];
  scrub.max = stages.length - .001;
  byId('real').replaceChildren(...stages.map((stage, i) => {
    const part = document.createElement('i'), next = stages[i + 1] ?? stage;
    part.style.flexGrow = Math.max(.3, next.dataset.ms - stage.dataset.ms);
    part.classList.toggle('docker', ['begin', 'list'].includes(stage.dataset.kind) || ['end', 'event'].includes(next.dataset.kind)); // it is waited for
    return part;
  }));
  byId('share').textContent = `${html.getElementById('change-title').textContent}. In real time ${byId('stages').dataset.took}: blue is the kubelet, grey is Docker.`;
  player.hidden = false;
  document.body.classList.add('playing');
  if (innerHeight < 950 && !saved) byId('flow').scrollIntoView({ block: 'start', behavior: still.matches ? 'auto' : 'smooth' });
  pause();
  seek(from);
}

function leave() {
  if (saved) return;
  pause();
  document.body.classList.remove('playing');
  player.hidden = byId('mark').hidden = true;
  stages = [];
  draw();
  history.replaceState(null, '', location.pathname + location.search);
  byId('replay-' + replayed)?.focus();
}

function seek(to) {
  at = Math.max(0, Math.min(to, stages.length - .001));
  if (document.activeElement !== scrub || playing) scrub.value = at;
  draw();
}

// draw shows the moment: the sentence, the comparison, and the mark on its way. A patch of the page needs it again.
function draw() {
  const i = Math.floor(at), stage = stages[i], [from, to, lane] = ways[stage?.dataset.kind] ?? ['loop', 'loop'];
  const part = still.matches ? 1 : Math.min(1, (at - i) / travels), eased = part < .5 ? 4 * part ** 3 : 1 - (2 - 2 * part) ** 3 / 2;
  for (const box of document.querySelectorAll('.box')) box.classList.toggle('here', !!stage && box.id === 'box-' + (part < .5 ? from : to));
  for (const worker of document.querySelectorAll('[data-worker]')) worker.classList.toggle('acts', !!stage && stage.dataset.busy.split(' ').includes(worker.dataset.worker));
  byId('trail').firstElementChild.setAttribute('points', '');
  if (!stage) return;
  const label = stage.querySelector('.label').textContent;
  if (shown !== i) {
    shown = i;
    caption.replaceChildren(...[...stage.querySelectorAll('.say, .where')].map(part => part.cloneNode(true)));
    const view = stages.slice(0, i + 1).findLast(earlier => earlier.querySelector('template'))?.querySelector('template');
    byId('compare').replaceChildren(view ? view.content.cloneNode(true) : '');
    stages.forEach((other, n) => other.classList.toggle('on', n === i));
    [...byId('real').children].forEach((other, n) => other.classList.toggle('on', n === i));
    byId('clock').textContent = `${i + 1} of ${stages.length} · ${Math.round(stage.dataset.ms)} ms`;
    scrub.setAttribute('aria-valuetext', caption.textContent);
    history.replaceState(null, '', `#replay=${replayed}@${i}${ofPod && '&pod=' + encodeURIComponent(ofPod)}`); // a link to this moment
  }
  document.querySelector('.box.here').dataset.mark = label; // shown on a phone, where the mark has no room for it
  move(wayOf(from, to, lane), eased, label, 'wrong' in stage.dataset);
}

// move puts the mark on its way.
function move(way, part, label, wrong) {
  const mark = byId('mark'), diagram = byId('diagram');
  mark.hidden = false;
  mark.textContent = label;
  mark.classList.toggle('wrong', wrong);
  byId('trail').firstElementChild.setAttribute('points', way.map(p => `${p.x},${p.y}`).join(' '));
  const lengths = way.slice(1).map((p, n) => Math.hypot(p.x - way[n].x, p.y - way[n].y));
  let rest = part * lengths.reduce((a, b) => a + b, 0), n = 0;
  while (n < lengths.length - 1 && rest > lengths[n]) rest -= lengths[n++];
  const done = lengths[n] ? rest / lengths[n] : 0;
  const x = way[n].x + (way[n + 1].x - way[n].x) * done, y = way[n].y + (way[n + 1].y - way[n].y) * done;
  const left = Math.max(0, Math.min(x - mark.offsetWidth / 2, diagram.clientWidth - mark.offsetWidth));
  mark.style.transform = `translate(${left}px, ${y - mark.offsetHeight / 2}px)`;
}

function wayOf(from, to, lane) {
  const origin = byId('diagram').getBoundingClientRect();
  const [a, b] = [from, to].map(name => {
    const r = byId('at-' + name).getBoundingClientRect();
    return { x: r.left + r.width / 2 - origin.left, y: r.top + r.height / 2 - origin.top };
  });
  const below = byId('lane-' + lane)?.getBoundingClientRect();
  if (!below?.height || from === to) return [a, b];
  const y = below.bottom - origin.top; // the ends of a lane are beside the stations
  const end = (name, p) => ({ x: name === 'workers' ? p.x : (name === 'loop' ? below.left : below.right) - origin.left, y: p.y });
  const [start, stop] = [end(from, a), end(to, b)];
  return [start, { x: start.x, y }, { x: stop.x, y }, stop];
}

// lasting returns how long a stage lasts, in milliseconds.
function lasting(i) {
  const pace = byId('pace').value;
  if (pace === 'read') return 1500 + 38 * stages[i].querySelector('.say').textContent.length;
  return Math.max(16, ((stages[i + 1] ?? stages[i]).dataset.ms - stages[i].dataset.ms) * pace);
}

// later returns where the replay is some milliseconds after now.
function later(milliseconds) {
  let i = Math.floor(at), left = (i + 1 - at) * lasting(i); // of this stage
  for (; milliseconds > left && i < stages.length - 1; left = lasting(++i)) milliseconds -= left;
  return i + 1 - (left - milliseconds) / lasting(i);
}

function tick(now) {
  if (!playing) return;
  const next = later(Math.max(0, Math.min(now - last, 1000))); // a frame may have begun before play
  last = now;
  seek(next);
  if (next >= stages.length - .002) return pause();
  requestAnimationFrame(tick);
}

function play() {
  if (at >= stages.length - .01) seek(0);
  playing = true;
  caption.ariaLive = byId('pace').value === 'read' ? 'polite' : 'off';
  byId('play').textContent = 'Pause';
  last = performance.now();
  requestAnimationFrame(tick);
}

function pause() {
  playing = false;
  byId('play').textContent = 'Play';
}

// goTo goes to where a stage can be read.
function goTo(i) {
  pause();
  seek(Math.max(0, Math.min(i, stages.length - 1)) + travels);
  pause();
}

byId('play').addEventListener('click', () => playing ? pause() : play());
byId('back').addEventListener('click', () => goTo(Math.floor(at) - 1));
byId('on').addEventListener('click', () => goTo(Math.floor(at) + 1));
byId('leave').addEventListener('click', leave);
scrub.addEventListener('input', () => { seek(+scrub.value); pause(); });
addEventListener('resize', draw);
document.addEventListener('keydown', key => {
  const typing = key.target.closest('select') || key.key === ' ' && key.target.closest('button, summary, a, pre, input');
  if (!stages.length || typing || key.ctrlKey || key.metaKey || key.altKey) return;
  switch (key.key) {
    case ' ': playing ? pause() : play(); break;
    case 'ArrowRight': goTo(Math.floor(at) + 1); break;
    case 'ArrowLeft': goTo(Math.floor(at) - 1); break;
    case 'Escape': leave(); break;
    default: return;
  }
  key.preventDefault();
});
live.addEventListener('click', click => {
  const stage = click.target.closest('#stages li');
  if (stage) goTo(stages.indexOf(stage));
});

const moment = new URLSearchParams(location.hash.slice(1)), [change, stage] = (moment.get('replay') ?? '').split('@');
if (saved) tell(document, '1', '', change ? +stage + travels : 0);
