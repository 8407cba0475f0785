import type { HostedConfiguration } from '../configuration.ts';
import type { ProgramHost } from '../program.ts';
import { testNetwork } from './addresses.ts';

const PORT = 7480;

/** A configuration with two drives, as a cloud would send it. */
export function testConfiguration(folder: string, changes: Partial<HostedConfiguration> = {}): HostedConfiguration {
  const host = `${testNetwork()}.1`;
  return {
    uuid: '6f1f5f6e-0000-4000-8000-000000000001',
    number: 1,
    internalName: 'vsa-00000001',
    displayName: 'Accounts',
    folder,
    owner: 'dana',
    initialPasscode: 'first passcode',
    internalKey: 'internal key',
    vaultKey: 'ab'.repeat(32),
    management: { host, port: PORT },
    managementUrl: `http://${host}:${PORT}`,
    dataPort: 3260,
    filePort: 2049,
    publicAddress: null,
    publicService: null,
    interfaces: [],
    tls: null,
    engine: 'engine_small',
    limits: {},
    cacheGb: 1,
    raid10Pools: false,
    dualTarget: false,
    fileLifecycle: true,
    lockedDown: false,
    dataReduction: false,
    node: 'node-1',
    zone: 'zone_0',
    zoneDisplayName: 'Zone 0',
    zonesUsed: 1,
    zoneIds: { zone_0: 1, zone_1: 2, zone_2: 3 },
    drives: [testDrive(1), testDrive(2)],
    policies: [],
    proxyZones: [],
    logLevel: 'silent',
    ...changes,
  };
}

export function testDrive(number: number): HostedConfiguration['drives'][number] {
  return {
    uuid: `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`,
    number,
    type: 'SSD_10GB',
    medium: 'ssd',
    cache: false,
    capacityGb: 10,
    node: `node-${number}`,
    zone: 'zone_0',
    zoneDisplayName: 'Zone 0',
    policy: null,
    file: `/nowhere/${number}.drive`,
  };
}

/** A cloud that accepts no returned drive. */
const noCloud = () => Promise.reject(new Error('No cloud is there.'));
export const testHost: ProgramHost = {
  returnDrive: noCloud,
  returnProxies: noCloud,
  reportListening: () => undefined,
  reportEncryption: () => Promise.resolve(),
  progress: () => undefined,
};
