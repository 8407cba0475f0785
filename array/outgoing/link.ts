import { connect, isIP, isIPv6, type Socket, type SocketConnectOpts } from 'node:net';
import { connect as connectTls, getCACertificates } from 'node:tls';
import { outgoingAddress, tlsPolicy, type HostAndPort } from '@granary/kernel';
import { localAddressFor, type Source } from './source.ts';
import { openTunnel } from './tunnel.ts';

export type ProxyType = 'http' | 'http10' | 'socks4_hostname' | 'socks5' | 'socks4' | 'socks4a';

export interface Proxy {
  readonly type: ProxyType;
  readonly host: string;
  readonly port: number;
  readonly user: string | null;
  readonly password: string | null;
}

/** Where something listens, and the way there. */
export interface Route {
  readonly host: string;
  readonly port: number;
  readonly isTls: boolean;
  readonly proxy: Proxy | null;
  /** A certificate that is trusted in addition to the system's. */
  readonly trusted?: string | undefined;
  /** Where connections come from, asked for each of them; absent: the machine chooses. */
  readonly source?: (() => Source) | undefined;
}

const CONNECT_MS_MAX = 5_000;

/** Proxies of these kinds look names up themselves. */
const RESOLVING = new Set<ProxyType>(['http', 'http10', 'socks4_hostname', 'socks4a']);

/** A connection to the end of a route. Where it may lead is checked each time: a name may lead elsewhere tomorrow. */
export async function openLink(route: Route): Promise<Socket> {
  const socket = route.proxy ? await throughProxy(route, route.proxy) : await direct(route, route.source);
  return route.isTls ? secured(socket, route) : socket;
}

async function direct({ host, port }: HostAndPort, source: Route['source']): Promise<Socket> {
  const address = await checked(host);
  return opened(connect({ host: address, port, noDelay: true, ...boundTo(source, address) }), 'connect');
}

async function throughProxy(route: Route, proxy: Proxy): Promise<Socket> {
  const host = isIP(route.host) === 0 && RESOLVING.has(proxy.type) ? route.host : await checked(route.host);
  if (proxy.type === 'http' || proxy.type === 'http10') {
    const socket = await direct(proxy, route.source);
    return openTunnel(socket, { host, port: route.port }, proxy);
  }
  if (proxy.type !== 'socks5' && isIPv6(host)) throw new Error(`a ${proxy.type} proxy does not reach IPv6 addresses`);
  const { SocksClient } = await import('socks');
  const proxyAddress = await checked(proxy.host);
  const { socket } = await SocksClient.createConnection({
    command: 'connect',
    timeout: CONNECT_MS_MAX,
    // Each member is optional, whatever the type of the library says.
    socket_options: boundTo(route.source, proxyAddress) as SocketConnectOpts,
    destination: { host, port: route.port },
    proxy: {
      host: proxyAddress,
      port: proxy.port,
      type: proxy.type === 'socks5' ? 5 : 4,
      ...(proxy.user !== null && { userId: proxy.user }),
      ...(proxy.password !== null && { password: proxy.password }),
    },
  });
  socket.on('error', ignore);
  socket.setNoDelay(true);
  return socket;
}

function boundTo(source: Route['source'], destination: string): { localAddress?: string } {
  const localAddress = source && localAddressFor(source(), destination);
  return localAddress === undefined ? {} : { localAddress };
}

async function checked(host: string): Promise<string> {
  return withoutBrackets(await outgoingAddress(host));
}

function secured(socket: Socket, { host, trusted }: Route): Promise<Socket> {
  const secure = connectTls({
    ...tlsPolicy,
    socket,
    host,
    ...(isIP(host) === 0 && { servername: host }),
    ALPNProtocols: ['http/1.1'],
    ...(trusted !== undefined && { ca: [...getCACertificates('default'), trusted] }),
  });
  return opened(secure, 'secureConnect');
}

function opened(socket: Socket, event: 'connect' | 'secureConnect'): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const impatience = setTimeout(() => {
      socket.destroy(new Error('the connection was not made in time'));
    }, CONNECT_MS_MAX);
    const refuse = (error: Error) => {
      clearTimeout(impatience);
      reject(error);
    };
    // Stays for the socket's whole life: at times no other listener for errors is attached.
    socket.on('error', refuse);
    socket.once(event, () => {
      clearTimeout(impatience);
      resolve(socket);
    });
  });
}

function ignore(): void {}

function withoutBrackets(address: string): string {
  return address.replace(/^\[|\]$/g, '');
}
