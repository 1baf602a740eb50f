// Keeps the page up to date. Without it the page shows the same, as of the moment it was loaded.
'use strict';

const statusLine = byId('status');

// Screen readers announce the status line, so it is only touched when its text changes.
function setStatus(text, connected) {
  if (statusLine.textContent !== text) statusLine.textContent = text;
  document.body.dataset.connected = connected;
}

// ---- The stream: the server sends the part of the page that changes, as HTML.

let stream, watchdog;

function connect() {
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
  if (!element || still.matches) return;
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

byId('log-close').addEventListener('click', closeLog);
document.addEventListener('keydown', key => {
  if (key.key !== 'Escape' || log.hidden) return;
  closeLog();
  key.stopImmediatePropagation(); // a replay goes on
}, { capture: true });

// ---- The changes: each link opens its replay.

const auto = byId('auto');
let newest = newestChange();

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

// arrived is called after each patch: another change may have come to rest.
function arrived() {
  draw();
  if (newest === newestChange()) return;
  newest = newestChange();
  if (auto.checked && !playing) openChange(newest).then(opened => opened && play());
}

live.addEventListener('click', click => {
  const change = click.target.closest('a[data-change]'), pod = click.target.closest('#who a');
  if (!change && !pod || click.button !== 0 || click.ctrlKey || click.metaKey || click.shiftKey || click.altKey) return;
  click.preventDefault();
  openChange(change?.dataset.change ?? replayed, pod?.dataset.pod).then(opened => opened && (play(), byId('play').focus({ preventScroll: true })));
});

// ---- With -step: a button allows the plan that was seen, or breaks something. Another plan needs another look.

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
if (change) openChange(change, moment.get('pod') ?? '', +stage + travels).then(opened => byId('gone').hidden = opened);
connect();
byId('auto-label').hidden = false;
auto.checked = localStorage.auto === 'yes'; // last: it throws in a browser that blocks the data of sites
auto.addEventListener('change', () => { localStorage.auto = auto.checked ? 'yes' : 'no'; });
