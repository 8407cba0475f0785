import type { Endpoint } from '@granary/contract';
import { createContext, useCallback, useContext, type ReactNode } from 'react';
import type { Op } from '../api/operations.ts';
import { service } from '../api/service.ts';
import { useSession } from './session.tsx';

/** Who the signed-in person is at a service. */
export interface Identity {
  readonly username: string;
  readonly role: string;
  /** Below an administrator: whether this person created what the parameter names. Unknown counts as no. */
  readonly created?: (kind: string, name: string) => boolean;
  readonly accountId?: string | undefined;
  readonly accountName?: string | undefined;
}

const Context = createContext<Readonly<Partial<Record<string, Identity>>>>({});

/** Below it, the person is `identity` at services of this API. */
export function IdentityAt(props: { readonly api: string; readonly identity: Identity; readonly children: ReactNode }) {
  const outer = useContext(Context);
  return <Context value={{ ...outer, [props.api]: props.identity }}>{props.children}</Context>;
}

/** Undefined at a service where the person is not known. */
export function useIdentity(api: string): Identity | undefined {
  const session = useSession();
  const known = useContext(Context)[api];
  if (known) return known;
  if (api !== service.kind) return undefined;
  const { username, role, account_id: accountId, account_name: accountName } = session;
  return { username, role, accountId, accountName };
}

type May = (op: Op, input?: Readonly<Record<string, unknown>>) => boolean;

/** Whether a call would be let through: buttons whose call would be refused are not shown. */
export function useMay(): May {
  const own = useIdentity(service.kind);
  const others = useContext(Context);
  return useCallback(
    (op, input = {}) => {
      const identity = others[op.api.name] ?? (op.api.name === service.kind ? own : undefined);
      return identity !== undefined && isAllowed(op.endpoint, identity, input);
    },
    [own, others],
  );
}

/** By the declaration of the endpoint: its roles, and who created what it changes. */
export function isAllowed({ access }: Endpoint, identity: Identity, input: Readonly<Record<string, unknown>>): boolean {
  if (access.roles === 'anyone') return true;
  if (!access.roles.includes(identity.role)) return false;
  if (!access.creator || isAdministrator(identity.role)) return true;
  const { kind, param } = access.creator;
  const name = input[param];
  // Without a record at hand the question is whether any call could be let through.
  return typeof name !== 'string' || identity.created?.(kind, name) === true;
}

export function isAdministrator(role: string): boolean {
  return role === 'admin' || role === 'objs_admin';
}
