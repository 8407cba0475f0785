import { createServer } from 'node:net';
import { PortGuards } from '../port-guards.ts';

/** `port-holder.ts <host> <port>`: guards the port and listens there, or says why it cannot. */
const [host = '', port = ''] = process.argv.slice(2);
const address = { host, port: Number(port) };
const guards = new PortGuards({ acquireMsMax: 0 });
const [refused] = await guards.acquire([address]);
if (refused) process.send?.(refused.code ?? 'refused');
else createServer().listen({ ...address, reusePort: true }, () => process.send?.('listening'));
