import type { Endpoint } from '@granary/contract';
import { createContext, useCallback, useContext, type ReactNode } from 'react';
import { useCreated, type Created } from '../api/created.ts';
import { createdThings, type Op } from '../api/operations.ts';
import { usePlaces } from '../api/places.tsx';
import { service } from '../api/service.ts';
import { useSession } from './session.tsx';

/** Who the signed-in person is at a service. */
export interface Identity {
  readonly username: string;
  readonly role: string;
  readonly accountId?: string | undefined;
  readonly accountName?: string | undefined;
  /** The array takes no change of what is shown, from any user. */
  readonly isLocked?: boolean | undefined;
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
  const { username, role, account_id: accountId, account_name: accountName, locked_down: isLocked } = session;
  return { username, role, isLocked, accountId, accountName };
}

/** Below it, nothing is offered that changes the service of this API. */
export function Unchanging({ api, children }: { readonly api: string; readonly children: ReactNode }) {
  const identity = useIdentity(api);
  if (!identity) return children;
  return (
    <IdentityAt api={api} identity={{ ...identity, isLocked: true }}>
      {children}
    </IdentityAt>
  );
}

type May = (op: Op, input?: Readonly<Record<string, unknown>>) => boolean;

/** Whether a call would be let through: buttons whose call would be refused are not shown. */
export function useMay(): May {
  const own = useIdentity(service.kind);
  const others = useContext(Context);
  const created = useCreated(usePlaces()['array']);
  return useCallback(
    (op, input = {}) => {
      const identity = others[op.api.name] ?? (op.api.name === service.kind ? own : undefined);
      if (identity?.isLocked === true && changes(op)) return false;
      return identity !== undefined && isAllowed(op.endpoint, identity.role, { input, created });
    },
    [own, others, created],
  );
}

/** What a locked array refuses: all but what signs in and out, and gives it the password that its data needs. */
function changes({ endpoint, group, id }: Op): boolean {
  return endpoint.method !== 'GET' && group !== 'sessions' && id !== 'settings.restoreEncryption';
}

/** By the declaration of the endpoint: its roles, and who created what it changes. */
function isAllowed(
  { access }: Endpoint,
  role: string,
  { input, created }: { readonly input: Readonly<Record<string, unknown>>; readonly created: Created },
): boolean {
  if (access.roles === 'anyone') return true;
  if (!access.roles.includes(role)) return false;
  if (!access.creator || isAdministrator(role)) return true;
  // Without a record at hand the question is whether any call could be let through.
  const answers = createdThings(access.creator, input).map(({ kind, name }) => created(kind, name));
  return !answers.includes(false);
}

function isAdministrator(role: string): boolean {
  return role === 'admin' || role === 'objs_admin';
}
