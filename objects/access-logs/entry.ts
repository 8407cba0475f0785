import type { Operation } from '@granary/contract';
import type { AnsweredCall } from '@granary/kernel';
import type { RequestRecord } from '@granary/protocols/objects';
import type { ObjectsActor } from '../actor.ts';

export interface NewEntry {
  /** Null for anonymous requests. */
  readonly user: string | null;
  readonly controller: string;
  readonly action: string;
  /** JSON text. */
  readonly params: string;
  readonly created: number;
}

const VALUE_LENGTH_MAX = 512;
const PARAMS_LENGTH_MAX = 8_192;

/** A request of the data path: the controller is the one that served it. */
export function requestEntry(request: RequestRecord, controller: string): NewEntry {
  const { protocol, action, username, bucket, key, status, bytesIn, bytesOut, milliseconds, ip, requestId } = request;
  const params = {
    bucket,
    key,
    status,
    bytes_in: bytesIn,
    bytes_out: bytesOut,
    ms: Math.round(milliseconds),
    ip,
    request_id: requestId,
  };
  return {
    user: username,
    controller,
    action: `${protocol} ${action}`,
    params: JSON.stringify(params),
    created: Math.round(request.at + milliseconds),
  };
}

/** A call of the management interface: the controller is the group of operations it belongs to. */
export function callEntry({ operation, actor, params, ip, code }: AnsweredCall, now: number): NewEntry {
  const kept = { ...keptParams(operation, params), status: code, ip };
  const text = JSON.stringify(kept);
  return {
    user: (actor as ObjectsActor | undefined)?.username ?? null,
    controller: operation.group,
    action: operation.name,
    params: text.length > PARAMS_LENGTH_MAX ? JSON.stringify({ status: code, ip, shortened: true }) : text,
    created: now,
  };
}

/** Parameters that the operation declares and does not call a secret; others are not logged. */
function keptParams({ endpoint }: Operation, raw: AnsweredCall['params']): Record<string, unknown> {
  const kept: Record<string, unknown> = {};
  for (const [name, param] of Object.entries(endpoint.params)) {
    if (param.secret) continue;
    const sent = [name, ...(param.aliases ?? [])].find((one) => raw[one] !== undefined);
    if (sent !== undefined) kept[name] = param.kind === 'file' ? '(a file)' : shortened(raw[sent]);
  }
  return kept;
}

/** Structures are left out: how deep they nest is the caller's choice, and what is written here was not checked. */
function shortened(value: unknown): unknown {
  if (Array.isArray(value) && value.every((one) => typeof one !== 'object')) return value;
  if (typeof value === 'object' && value !== null) return '(a structure)';
  return typeof value === 'string' && value.length > VALUE_LENGTH_MAX ? `${value.slice(0, VALUE_LENGTH_MAX)}…` : value;
}
