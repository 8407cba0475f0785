import { otherAddresses, type HostedConfiguration } from '@granary/kernel';
import type { DataPathSettings } from '../management.ts';
import type { DataAddress } from './data-server.ts';

/** All the addresses of the array, at the port of the data path, and the place of its public service. */
export function dataAddresses(configuration: HostedConfiguration): DataAddress[] {
  const { management, publicService, dataPort } = configuration;
  const hosts = [management.host, ...otherAddresses(configuration)];
  const own = [...new Set(hosts)].map((host) => ({ host, port: dataPort }));
  if (!publicService || (hosts.includes(publicService.address) && publicService.port === dataPort)) return own;
  return [...own, { host: publicService.address, port: publicService.port }];
}

type Names = Pick<DataPathSettings, 'apiHostname' | 'apiIp' | 'publicApiHostname' | 'sslTermination'>;

/** `http(s)://host:port` of the data path, as links give it: by the name that was set, or else the address. */
export function publicUrls(configuration: HostedConfiguration, settings: Names): string[] {
  const { apiHostname, apiIp, publicApiHostname, sslTermination } = settings;
  const { management, publicAddress, publicService, dataPort } = configuration;
  const hosts = [apiHostname ?? apiIp ?? management.host, publicApiHostname ?? publicAddress];
  const places = [
    ...hosts.filter((host) => host !== null).map((host) => ({ host, port: dataPort })),
    ...(publicService ? [{ host: publicService.host, port: publicService.port }] : []),
  ];
  const scheme = sslTermination ? 'https' : 'http';
  return places.map(({ host, port }) => `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}`);
}

/** Names and addresses that the array answers to; a bucket may stand before one of the names. */
export function hostsOf(configuration: HostedConfiguration, settings: Names): string[] {
  const { apiHostname, apiIp, publicApiHostname } = settings;
  const service = configuration.publicService?.host ?? null;
  const named = [apiHostname, publicApiHostname, service, apiIp].filter((host) => host !== null);
  return [...new Set([...named, ...dataAddresses(configuration).map(({ host }) => host)])];
}
