import { otherAddresses, type HostedConfiguration } from '@granary/kernel';
import type { DataPathSettings } from '../management.ts';
import type { DataAddress } from './data-server.ts';

/** All the addresses of the array, at the port of the data path. */
export function dataAddresses(configuration: HostedConfiguration): DataAddress[] {
  const { management, dataPort } = configuration;
  const hosts = [management.host, ...otherAddresses(configuration)];
  return [...new Set(hosts)].map((host) => ({ host, port: dataPort }));
}

type Names = Pick<DataPathSettings, 'apiHostname' | 'apiIp' | 'publicApiHostname' | 'sslTermination'>;

/** `http(s)://host:port` of the data path, as links give it: by the name that was set, or else the address. */
export function publicUrls(configuration: HostedConfiguration, settings: Names): string[] {
  const { apiHostname, apiIp, publicApiHostname, sslTermination } = settings;
  const { management, publicAddress, dataPort } = configuration;
  const hosts = [apiHostname ?? apiIp ?? management.host, publicApiHostname ?? publicAddress];
  return hosts
    .filter((host) => host !== null)
    .map((host) => `${sslTermination ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${dataPort}`);
}

/** Names and addresses that the array answers to; a bucket may stand before one of the names. */
export function hostsOf(configuration: HostedConfiguration, settings: Names): string[] {
  const { apiHostname, apiIp, publicApiHostname } = settings;
  const named = [apiHostname, publicApiHostname, apiIp].filter((host) => host !== null);
  return [...new Set([...named, ...dataAddresses(configuration).map(({ host }) => host)])];
}
