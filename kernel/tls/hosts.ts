import { hostname, networkInterfaces } from 'node:os';
import { isIP } from 'node:net';

const EVERY_ADDRESS = new Set(['0.0.0.0', '::']);

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host === '[::1]' || (isIP(host) === 4 && host.startsWith('127.'));
}

/** Whether a server that listens on it has every address of its machine. */
export function isEveryAddress(host: string): boolean {
  return EVERY_ADDRESS.has(host);
}

/** The names a server that listens on an address can be reached by, for its certificate. */
export function namesOfListener(host: string, others: readonly string[] = []): string[] {
  const own = isEveryAddress(host) ? [...machineAddresses(), hostname(), 'localhost'] : [host];
  const local = own.some(isLoopback) ? ['localhost'] : [];
  return [...new Set([...own, ...local, ...others].filter(isCertifiable))];
}

/** How others reach a server that listens on an address: by the first of its names, else by an address of the machine. */
export function reachableHost(host: string, names: readonly string[] = []): string | undefined {
  return names[0] ?? (isEveryAddress(host) ? machineAddresses()[0] : host);
}

/** Addresses of this machine, those others can reach first. */
export function machineAddresses(): string[] {
  const found = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  const sorted = [...found.filter(({ internal }) => !internal), ...found.filter(({ internal }) => internal)];
  // Link-local addresses mean nothing without the name of an interface.
  return sorted.filter(({ scopeid }) => (scopeid ?? 0) === 0).map(({ address }) => address);
}

function isCertifiable(host: string): boolean {
  return isIP(host) !== 0 || /^[A-Za-z0-9*]([A-Za-z0-9.-]{0,252})$/.test(host);
}
