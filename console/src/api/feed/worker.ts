import { Streams } from './streams.ts';
import { SILENT_MS_MAX, Tab, type TabMessage } from './tabs.ts';

/** Has the streams of changes of all tabs: there is one such worker in a browser for each service. */
const streams = new Streams({
  open: (url) => new EventSource(url),
  schedule: (action, ms) => {
    const timer = setTimeout(action, ms);
    return () => clearTimeout(timer);
  },
});

addEventListener('connect', (event) => {
  const [port] = (event as MessageEvent).ports;
  if (!port) return;
  const tab = new Tab(streams, (told) => port.postMessage(told));
  let heardAt = Date.now();
  port.addEventListener('message', ({ data }: MessageEvent<TabMessage>) => {
    heardAt = Date.now();
    tab.hear(data);
  });
  // Nobody says that a tab was closed, or that its process ended. One that was only asleep follows anew.
  setInterval(() => {
    if (Date.now() - heardAt > SILENT_MS_MAX) tab.hear({});
  }, SILENT_MS_MAX / 5);
  port.start();
});
