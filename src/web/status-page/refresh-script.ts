/**
 * Fetches the open page every few seconds and replaces what is live, keeping focus and scroll position; stops
 * in a hidden tab and while paused; shows an alert while the exporter does not respond with this page.
 */
export const REFRESH_SCRIPT = `(() => {
'use strict';
const REFRESH_MS = 5000;
const byId = (id) => document.getElementById(id);
const pause = byId('pause');
let timer;
let isPaused = false;

const applyPage = (page) => {
  const focused = document.activeElement?.id;
  const live = [...document.querySelectorAll('[data-live]')].map((old) => [old, page.getElementById(old.id)]);
  // A login or an ingress may answer, or another version of the exporter.
  if (live.some(([, fresh]) => fresh === null)) throw new Error('Not this page');
  // Screen readers announce each replacement of the summary.
  for (const [old, fresh] of live) if (!old.isEqualNode(fresh)) old.replaceChildren(...fresh.childNodes);
  document.title = page.title;
  if (focused && document.activeElement?.id !== focused) byId(focused)?.focus({ preventScroll: true });
};

const fetchPage = async () => {
  const headers = { accept: 'text/html' };
  const signal = AbortSignal.timeout(2 * REFRESH_MS);
  const response = await fetch(location.href, { cache: 'no-store', headers, signal });
  // The page of a service code that is no longer configured says so.
  if (!response.ok && response.status !== 404) throw new Error('HTTP ' + response.status);
  return new DOMParser().parseFromString(await response.text(), 'text/html');
};

const refresh = async () => {
  try {
    applyPage(await fetchPage());
    byId('unreachable').hidden = true;
  } catch {
    byId('unreachable').hidden = false;
  } finally {
    schedule(REFRESH_MS);
  }
};

const schedule = (afterMs) => {
  clearTimeout(timer);
  if (!isPaused && !document.hidden) timer = setTimeout(refresh, afterMs);
};

document.addEventListener('visibilitychange', () => schedule(0));
pause.hidden = false;
pause.addEventListener('click', () => {
  isPaused = !isPaused;
  pause.setAttribute('aria-pressed', String(isPaused));
  schedule(0);
});
schedule(REFRESH_MS);
})();`;
