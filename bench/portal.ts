import { requestRates, startServer, type Target } from './load.ts';
import { atLeast, below, reported, type Ratio } from './ratio.ts';

/** The portal against a bare Fastify route that serves the same records: what validation, sign-in and the rest cost. */
export async function benchPortal(): Promise<Ratio[]> {
  const portal = await startServer('portal.ts', ['1000']);
  const small = await startServer('portal.ts', ['10']);
  const get = async (path: string) =>
    (await (await fetch(`${portal.url}/api${path}`, { headers: { 'x-token': portal.token } })).json()) as {
      data: never;
    };
  const listed = (await get('/arrays?limit=50')).data;
  const shown = (await get('/arrays/500')).data;
  const bare = await startServer('bare.ts', [], { listed, shown });
  const ours = (name: string, path: string, server = portal): Target => ({
    name,
    url: `${server.url}/api${path}`,
    headers: { 'x-token': server.token },
  });
  const theirs = (name: string, path: string): Target => ({ name, url: `${bare.url}${path}` });
  try {
    const rates = await requestRates([
      ours('get', '/arrays/500'),
      theirs('bare get', '/schema/arrays/500'),
      theirs('plain get', '/plain/arrays/500'),
      ours('list', '/arrays?limit=50'),
      theirs('bare list', '/schema/arrays'),
      theirs('plain list', '/plain/arrays'),
      ours('page of 1000', '/arrays?limit=10'),
      ours('page of 10', '/arrays?limit=10', small),
    ]);
    const rate = (name: string) => rates.get(name) ?? 0;
    for (const [name, value] of rates) process.stdout.write(`  ${name.padEnd(14)} ${Math.round(value)} requests/s\n`);
    return [
      atLeast('GET /arrays/{id} against bare Fastify, same schema', rate('get') / rate('bare get'), 0.6),
      atLeast('GET /arrays (50 of 1,000) against bare Fastify, same schema', rate('list') / rate('bare list'), 0.6),
      reported('GET /arrays/{id} against bare Fastify, plain JSON.stringify', rate('get') / rate('plain get')),
      reported(
        'GET /arrays (50 of 1,000) against bare Fastify, plain JSON.stringify',
        rate('list') / rate('plain list'),
      ),
      below('time of a page of 10 at 1,000 records against 10 records', rate('page of 10') / rate('page of 1000'), 2),
    ];
  } finally {
    for (const server of [portal, small, bare]) server.stop();
  }
}
