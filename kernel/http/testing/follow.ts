import { until } from '../../../testing/waiting.ts';

interface Test {
  readonly after: (end: () => void) => unknown;
}

/** Follows the changes of a service as a browser does. */
export async function followChanges(t: Test, url: string, headers: Record<string, string>) {
  const ending = new AbortController();
  t.after(() => ending.abort());
  const answered = await fetch(`${url}/api/changes`, { headers, signal: ending.signal });
  if (!answered.ok || !answered.body) throw new Error(`HTTP ${answered.status}: ${await answered.text()}`);
  let text = '';
  let hasEnded = false;
  const read = async (body: ReadableStream<Uint8Array>) => {
    const decoder = new TextDecoder();
    for await (const chunk of body) text += decoder.decode(chunk, { stream: true });
  };
  void read(answered.body)
    .catch(() => undefined)
    .finally(() => (hasEnded = true));
  const messages = () =>
    [...text.matchAll(/^event: (\w+)\ndata: (.*)\n\n/gm)].map(([, event = '', data = '']) => ({
      event,
      data: JSON.parse(data) as Record<string, unknown>,
    }));
  const groups = () =>
    messages().flatMap(({ event, data }) => (event === 'changed' ? (data['groups'] as string[]) : []));
  await until(() => text.includes(': changes follow'));
  return {
    groups,
    titles: () => messages().flatMap(({ event, data }) => (event === 'event' ? [data['msg_title'] as string] : [])),
    hasEnded: () => hasEnded,
    /** Waits until all of these changed since it was last asked. */
    async changed(...wanted: string[]): Promise<void> {
      await until(() => wanted.every((group) => groups().includes(group)), `${wanted.join(', ')} changed: ${text}`);
      text = '';
    },
  };
}
