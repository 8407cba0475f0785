import { randomBytes } from 'node:crypto';
import type { ArraySpec } from '@granary/contract/cloud';
import type { Vault } from '@granary/kernel';
import type { HostedRecord, KeptSpec } from './repository.ts';

const VAULT_KEY_BYTES = 32;

export interface ArraySecrets {
  readonly initialPasscode: string;
  readonly internalKey: string;
  /** What the array seals its own secrets with: it is kept here, not beside what it seals. */
  readonly vaultKey: string;
}

export function withoutSecrets({ initial_passcode: _passcode, internal_key: _key, ...kept }: ArraySpec): KeptSpec {
  return kept;
}

/** Sealed, for the database. The passcode is that of the first day; a later spec cannot change it. */
export function sealSecrets(vault: Vault, spec: ArraySpec, before: HostedRecord | undefined): string {
  const old = before && unsealSecrets(vault, before);
  if (old?.internalKey === spec.internal_key) return before?.sealedSecrets as string;
  const secrets: ArraySecrets = {
    initialPasscode: old?.initialPasscode ?? spec.initial_passcode,
    internalKey: spec.internal_key,
    vaultKey: old?.vaultKey ?? randomBytes(VAULT_KEY_BYTES).toString('hex'),
  };
  return vault.seal(JSON.stringify(secrets));
}

export function unsealSecrets(vault: Vault, { sealedSecrets }: HostedRecord): ArraySecrets {
  return JSON.parse(vault.unseal(sealedSecrets)) as ArraySecrets;
}
