import type { EncryptionChange, HostedConfiguration, Listening, Tx, UnboundAddress } from '@granary/kernel';
import { markServed, setEncryption } from './hosted-arrays/repository.ts';
import type { StateChange } from './supervision/supervised-array.ts';
import type { Tools } from './tools.ts';

/** Every change of state is an event and a line in the log. */
export function recordState(tools: Tools, configuration: HostedConfiguration, change: StateChange): void {
  const { internalName: array, uuid } = configuration;
  const { state, reason } = change;
  tools.options.log.info({ array, uuid, state, reason }, 'an array changed state');
  const because = reason === undefined ? '' : `: ${reason}`;
  const severity = state === 'failed' ? 'error' : reason === undefined ? 'info' : 'warning';
  recordEvent(tools, configuration, severity, `Array ${array} is ${state}${because}`, (tx) => {
    if (state === 'running') markServed(tx, uuid);
  });
}

/** An address that cannot be bound is an event, and so is its end. */
export function recordListening(
  tools: Tools,
  configuration: HostedConfiguration,
  now: Listening,
  before: Listening,
): void {
  const { internalName } = configuration;
  const isNew = (one: UnboundAddress) =>
    !before.unbound.some(({ address, reason }) => address === one.address && reason === one.reason);
  for (const { address, reason } of now.unbound.filter(isNew))
    recordEvent(tools, configuration, 'warning', `Array ${internalName} does not listen on ${address}: ${reason}`);
  for (const { address } of before.unbound.filter((one) => now.bound.includes(one.address)))
    recordEvent(tools, configuration, 'notice', `Array ${internalName} listens on ${address} now.`);
}

/** For the time when its process is down. Should this fail, the process reports it again at its next start. */
export function recordEncryption({ store, options }: Tools, array: string, changes: readonly EncryptionChange[]): void {
  store
    .write((tx) => setEncryption(tx, array, changes))
    .catch((error: unknown) => options.log.error({ error, array }, 'the encryption of an array could not be recorded'));
}

function recordEvent(
  { store, events, options }: Tools,
  { internalName: array, uuid }: HostedConfiguration,
  severity: 'info' | 'notice' | 'warning' | 'error',
  title: string,
  along: (tx: Tx) => void = () => undefined,
): void {
  store
    .write((tx) => {
      along(tx);
      events.record(tx, { severity, title, subject: `array:${uuid}` });
    })
    .catch((error: unknown) => options.log.error({ error, array }, 'an event could not be recorded'));
}
