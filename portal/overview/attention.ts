import type { RecordOf } from '@granary/contract';
import { denialReason, type Overview } from '@granary/contract/portal';
import type { ShownWebhook } from '@granary/kernel';
import type { PresentArray } from '../arrays/repository.ts';
import type { Cloud } from '../clouds/cloud.ts';
import type { KeptSummary } from '../summaries/repository.ts';

export type Attention = RecordOf<typeof Overview>['attention'][number];

/** Several polls without an answer. */
const SILENT_AFTER_MS = 120_000;

/** Whether what is known of an array is too old; one that has just been made has time to answer. */
export function isSilent({ status, since }: PresentArray, kept: KeptSummary | undefined, now: number): boolean {
  return status === 'created' && now - Math.max(kept?.learntAt ?? 0, since) > SILENT_AFTER_MS;
}

/** What the portal knows of an array, and what the array said of its inside while it answered. */
export function arrayAttention(array: PresentArray, kept: KeptSummary | undefined, now: number): Attention[] {
  const own = (severity: Attention['severity'], text: string): Attention => ({
    ...placeOf(array),
    severity,
    kind: 'arrays',
    id: String(array.id),
    text,
  });
  const { name, status, statusMessage } = array;
  const reason = statusMessage === null ? '' : ` ${sentence(statusMessage)}`;
  const denial = denialReason({ status, message: statusMessage });
  if (denial !== undefined) return [own('warning', `The order of array ${name} was denied: ${sentence(denial)}`)];
  if (status === 'failed') return [own('error', `Array ${name} failed.${reason}`)];
  if (status === 'starting') return [own('error', `Array ${name} does not answer at the moment.${reason}`)];
  if (status !== 'created') return [];
  const inside = (kept?.summary.concerns ?? []).map((concern) => ({ ...placeOf(array), ...concern }));
  const told = statusMessage === null ? [] : [own('warning', `Array ${name}: ${sentence(statusMessage)}`)];
  const silent = isSilent(array, kept, now)
    ? [own('warning', `Array ${name} has not said lately how it is; its figures may be old.`)]
    : [];
  return [...told, ...silent, ...inside];
}

export function cloudAttention(cloud: Cloud, silentSince: number | undefined, now: number): Attention[] {
  if (silentSince === undefined || now - silentSince < SILENT_AFTER_MS / 2) return [];
  const text = `Cloud ${cloud.name} does not answer at ${cloud.address}.`;
  return [{ ...nowhere, severity: 'error', kind: 'clouds', id: String(cloud.id), text }];
}

export function webhookAttention({ webhook, waiting }: ShownWebhook): Attention[] {
  if (!webhook.isEnabled || webhook.failures === 0) return [];
  const reason = webhook.lastError ?? `status ${webhook.lastStatus ?? 'unknown'}`;
  const events = waiting === 1 ? '1 event waits' : `${waiting} events wait`;
  const text = sentence(`Webhook ${webhook.name} cannot be delivered, and ${events}: ${reason}`);
  return [{ ...nowhere, severity: 'warning', kind: 'webhooks', id: String(webhook.id), text }];
}

const nowhere = { array_id: null, array_name: null, product: null } as const;

function placeOf({ id, name, product }: PresentArray) {
  return { array_id: id, array_name: name, product };
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
