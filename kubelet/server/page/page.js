// Keeps the page up to date. Without it the page shows the same, as of the moment it was loaded.
'use strict';

const byId = id => document.getElementById(id);
const live = byId('live'), statusLine = byId('status');
const saved = document.body.classList.contains('saved'); // a replay in a file: there is no kubelet to ask

// Screen readers announce the status line, so it is only touched when its text changes.
function setStatus(text, connected) {
  if (statusLine.textContent !== text) statusLine.textContent = text;
  document.body.dataset.connected = connected;
}

// ---- The stream: the server sends the part of the page that changes, as HTML.

let stream, watchdog;

function connect() {
  if (saved) return;
  clearTimeout(watchdog);
  stream?.close();
  stream = new EventSource('/stream' + location.search); // which has the key
  stream.addEventListener('message', message => {
    expectMore();
    show(JSON.parse(message.data));
    setStatus('Live', true);
  });
  // The browser connects again by itself, but not after an HTTP error: then the key may be of an earlier start of the kubelet.
  stream.addEventListener('error', () => {
    setStatus('No answer from the kubelet; trying again', false);
    if (stream.readyState === EventSource.CLOSED) watchdog = setTimeout(reloadOrConnect, 2000);
  });
  expectMore();
}

function reloadOrConnect() {
  fetch(location.href).then(answer => answer.ok ? location.reload() : connect(), connect);
}

// The server sends something every ten seconds, unless the connection is lost.
function expectMore() {
  clearTimeout(watchdog);
  watchdog = setTimeout(() => {
    setStatus('No answer from the kubelet; trying again', false);
    connect();
  }, 25000);
}

// A hidden page needs no connection, and a browser has few.
document.addEventListener('visibilitychange', () => {
  if (!document.hidden) return connect();
  clearTimeout(watchdog);
  stream?.close();
});

function show(html) {
  const seen = new Set([...byId('event-list').children].map(item => item.id));
  patchChildren(live, new DOMParser().parseFromString(html, 'text/html').body);
  filterEvents();
  arrived();
  countOn(); // it may have been rendered some seconds ago
  for (const item of byId('event-list').children) {
    if (seen.has(item.id)) break; // the rest is older
    flash(byId(item.className === 'op' ? 'box-loop' : 'box-docker'));
    flash(byId('pod-' + item.dataset.pod));
  }
}

// flash marks for a moment where something happens.
function flash(element) {
  if (!element || matchMedia('(prefers-reduced-motion: reduce)').matches) return;
  const colour = getComputedStyle(document.body).getPropertyValue('--accent');
  element.animate([{ boxShadow: `0 0 0 2px ${colour}` }, { boxShadow: '0 0 0 2px transparent' }], { duration: 1500, easing: 'ease-out' });
}

// patch makes old equal to fresh. What is equal already stays, and with it the focus, a selection and the scroll position.
function patch(old, fresh) {
  if (old.isEqualNode(fresh) || old.dataset?.keep !== undefined) return;
  if (old.nodeType !== Node.ELEMENT_NODE) {
    old.data = fresh.data;
    return;
  }
  for (const { name } of [...old.attributes]) if (name !== 'open' && !fresh.hasAttribute(name)) old.removeAttribute(name);
  for (const { name, value } of fresh.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  patchChildren(old, fresh);
}

// Children match by their ids, in whatever order they were.
function patchChildren(old, fresh) {
  const wanted = new Set([...fresh.children].map(child => child.id));
  let at = old.firstChild;
  const remove = () => {
    const gone = at;
    at = at.nextSibling;
    gone.remove();
  };
  for (const next of [...fresh.childNodes]) {
    while (next.id && at && !(at.id && wanted.has(at.id))) remove();
    const moved = next.id && at?.id !== next.id && [...old.children].find(child => child.id === next.id);
    if (moved) {
      old.insertBefore(moved, at);
      at = moved;
    }
    if (at && at.nodeName === next.nodeName && at.id === next.id) {
      const following = at.nextSibling;
      patch(at, next);
      at = following;
    } else {
      old.insertBefore(next, at);
    }
  }
  while (at) remove();
}

// ---- The events of one pod

let onlyPod = '';

function filterEvents() {
  for (const item of byId('event-list').children) item.hidden = onlyPod !== '' && item.dataset.pod !== onlyPod;
  const all = Object.assign(document.createElement('button'), { type: 'button', id: 'all-events', textContent: 'show all' });
  byId('filter').replaceChildren(`Only those of ${onlyPod}. `, all);
  byId('filter').hidden = !onlyPod;
}

live.addEventListener('click', click => {
  const of = click.target.closest('a.of, #all-events');
  if (!of) return;
  onlyPod = of.dataset.pod ?? '';
  filterEvents();
});

// A link to a pod that is a row opens it, and so does one into a list that is closed.
function reveal() {
  const target = byId(location.hash.slice(1)), row = target?.querySelector('details') ?? target?.closest('details');
  if (row) row.open = true;
}
addEventListener('hashchange', reveal);

// ---- Ages count on by the server's clock, by the rule of ageText in page.go.

const ahead = Date.parse(document.body.dataset.now) - Date.now(); // the server's clock before this browser's, in milliseconds

function age(milliseconds) {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  if (seconds < 60) return seconds + ' s';
  if (seconds < 3600) return Math.floor(seconds / 60) + ' min';
  if (seconds < 48 * 3600) return Math.floor(seconds / 3600) + ' h';
  return Math.floor(seconds / 86400) + ' days';
}

function countOn() {
  for (const time of document.querySelectorAll('time[data-age], time[data-until]')) {
    const passed = Date.now() + ahead - Date.parse(time.dateTime);
    const text = age('until' in time.dataset ? -passed : passed);
    if (time.textContent !== text) time.textContent = text;
  }
}

// ---- A container's log, at the foot of the page. Its link works without this script too.

const log = byId('log'), logText = byId('log-text'), logNote = byId('log-note');
const logMost = 200000; // characters
let following, openedFrom;

live.addEventListener('click', click => {
  const link = click.target.closest('a.log-link');
  if (!link || click.button !== 0 || click.ctrlKey || click.metaKey || click.shiftKey || click.altKey) return;
  click.preventDefault();
  openLog(link);
});

async function openLog(link) {
  following?.abort();
  const mine = following = new AbortController();
  openedFrom = link.id;
  byId('log-title').textContent = link.getAttribute('aria-label');
  logText.textContent = '';
  logNote.textContent = 'loading';
  log.hidden = false;
  document.body.classList.add('with-log');
  log.focus({ preventScroll: true });
  link.scrollIntoView({ block: 'nearest' });
  try {
    const answer = await fetch(link.href + '&follow=1', { signal: mine.signal });
    if (!answer.ok) {
      logText.textContent = await answer.text();
      logNote.textContent = 'it cannot be read';
      return;
    }
    logNote.textContent = 'it has printed nothing yet';
    const pieces = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { value, done } = await pieces.read();
      if (done) break;
      logNote.textContent = 'the last lines, and new ones';
      appendLog(value);
    }
    logNote.textContent = logText.textContent ? 'it has ended' : 'it has ended, and has printed nothing';
  } catch {
    if (!mine.signal.aborted) logNote.textContent = 'cut off; open it again';
  }
}

function appendLog(text) {
  const atEnd = logText.scrollHeight - logText.scrollTop - logText.clientHeight < 40;
  let all = logText.textContent + text;
  const from = all.length - logMost;
  if (from > 0) all = all.slice(Math.max(from, all.indexOf('\n', from) + 1)); // the first line whole, unless it is too long
  logText.textContent = all;
  if (atEnd) logText.scrollTop = logText.scrollHeight;
}

function closeLog() {
  following?.abort();
  log.hidden = true;
  document.body.classList.remove('with-log');
  byId(openedFrom)?.focus();
}

byId('log-close')?.addEventListener('click', closeLog);
document.addEventListener('keydown', key => {
  if (key.key !== 'Escape' || !log || log.hidden) return;
  closeLog();
  key.stopImmediatePropagation(); // a replay goes on
});

// ---- The replay of a change: a function of one number, at = the stage + the part of it that has passed.

// ways has the two boxes between which the mark travels, and the lane below them.
const ways = {
  read: ['sources', 'sources'], send: ['sources', 'mux'], mux: ['mux', 'storage'], merge: ['storage', 'storage'], update: ['storage', 'loop'],
  list: ['loop', 'docker', 'list'], listed: ['docker', 'loop', 'list'], work: ['loop', 'workers'], begin: ['workers', 'docker'],
  end: ['docker', 'workers'], event: ['docker', 'loop', 'wake'], ended: ['workers', 'loop', 'wake'],
}; // all others: the loop decides
const travels = .45; // the part of a stage in which the mark moves; in the rest it stands, to be read
const player = byId('player'), scrub = byId('scrub'), caption = byId('caption'), auto = byId('auto');
const still = matchMedia('(prefers-reduced-motion: reduce)');
let replayed = '', ofPod = '', stages = [], at = 0, playing = false, last = 0, shown = -1, newest = newestChange();

// newestChange returns the number of the last change; empty: there is none.
function newestChange() { return byId('change-list')?.querySelector('a')?.dataset.change ?? ''; }

// openChange shows a change, of one pod or of all, from a stage on.
async function openChange(number, pod = '', from = 0) {
  const address = byId('replay-' + number)?.href;
  const answer = address && await fetch(address + (pod && '&pod=' + encodeURIComponent(pod))).catch(() => null);
  if (!answer?.ok) return false;
  byId('save').href = address + '&save=1&pod=' + encodeURIComponent(pod);
  byId('gone').hidden = true;
  tell(new DOMParser().parseFromString(await answer.text(), 'text/html'), number, pod, from);
  return true;
}

// tell shows the change of a document.
function tell(html, number, pod, from) {
  byId('list').replaceChildren(html.getElementById('stages'));
  byId('who').replaceChildren(html.getElementById('of-pods') ?? '');
  stages = [...byId('stages').children];
  [replayed, ofPod, shown] = [number, pod, -1];
  scrub.max = stages.length - .001;
  byId('real').replaceChildren(...stages.map((stage, i) => {
    const part = document.createElement('i');
    part.style.flexGrow = Math.max(.3, (stages[i + 1] ?? stage).dataset.ms - stage.dataset.ms);
    part.classList.toggle('docker', ['begin', 'list'].includes(stage.dataset.kind));
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

// arrived is called after each patch: another change may have come to rest.
function arrived() {
  draw();
  if (newest === newestChange()) return;
  newest = newestChange();
  if (auto.checked && !playing) openChange(newest).then(opened => opened && play());
}

live.addEventListener('click', click => {
  const change = click.target.closest('a[data-change]'), pod = click.target.closest('#who a'), stage = click.target.closest('#stages li');
  if (click.button !== 0 || click.ctrlKey || click.metaKey || click.shiftKey || click.altKey) return;
  if (change || pod) {
    click.preventDefault();
    openChange(change?.dataset.change ?? replayed, pod?.dataset.pod).then(opened => opened && (play(), byId('play').focus({ preventScroll: true })));
  } else if (stage) {
    goTo(stages.indexOf(stage));
  }
});
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

// ---- With -step: a button allows the plan that was seen, or breaks something. Another plan needs another look.

document.documentElement.classList.add('js');
live.addEventListener('click', async click => {
  const { steps, pod, id, command } = click.target.dataset;
  if (!steps && !command) return;
  const answer = await fetch((steps ? '/step' : '/break') + location.search, {
    method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(steps ? { id, pod, steps } : { command }),
  }).catch(() => null);
  if (!answer?.ok) setStatus(answer ? await answer.text() : 'No answer from the kubelet; trying again', !!answer);
});

setInterval(countOn, 1000);
reveal();
const moment = new URLSearchParams(location.hash.slice(1)), [change, stage] = (moment.get('replay') ?? '').split('@');
if (saved) tell(document, '1', '', change ? +stage + travels : 0);
else if (change) openChange(change, moment.get('pod') ?? '', +stage + travels).then(opened => byId('gone').hidden = opened);
connect();
if (!saved) { // last: the storage throws in a browser that blocks the data of sites
  byId('auto-label').hidden = false;
  auto.checked = localStorage.auto === 'yes';
  auto.addEventListener('change', () => { localStorage.auto = auto.checked ? 'yes' : 'no'; });
}
