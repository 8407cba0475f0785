import type { RecordOf } from '@granary/contract';
import type { Server as ServerRecord, ServerSession, VolumeServer } from '@granary/contract/array';
import { formatUtc } from '@granary/kernel';
import type { SessionReport } from '../engine/report.ts';
import type { ServerWithAttachment } from './server.ts';
import type { Server } from './server.ts';

export type ServerView = RecordOf<typeof ServerRecord>;
export type VolumeServerView = RecordOf<typeof VolumeServer>;
export type ServerSessionView = RecordOf<typeof ServerSession>;

/** What is known of a server's connections this moment. */
export interface Connectivity {
  readonly isConnected: boolean;
  /** When that was last looked at. */
  readonly checkedAt: number | null;
}

export function viewOf(server: Server, { isConnected, checkedAt }: Connectivity): ServerView {
  return {
    name: server.name,
    display_name: server.displayName,
    iqn: server.iqn,
    iscsi_ip: server.address,
    ipsec_iscsi: 'NO',
    ipsec_nfs: 'NO',
    status: isConnected ? 'Active' : 'Disconnected',
    os: server.os,
    // It has shown itself at least once.
    registered: isConnected || server.stateChangedAt !== null ? 'YES' : 'NO',
    last_check_time: timeOf(checkedAt),
    last_state_change_time: timeOf(server.stateChangedAt),
    created_at: formatUtc(server.createdAt),
    modified_at: formatUtc(server.modifiedAt),
  };
}

export function viewOfVolume(
  attached: ServerWithAttachment,
  connectivity: Connectivity,
  target: string | null,
): VolumeServerView {
  const server = viewOf(attached, connectivity);
  return {
    ...server,
    ipsec: 'NO',
    pm_status: attached.isMonitored ? server.status : 'Not monitored',
    target: attached.accessType === 'ISCSI' ? target : null,
    access_type: attached.accessType,
    read_only: attached.isReadOnly ? 'YES' : 'NO',
    lun: attached.lun,
  };
}

/** Sessions of one initiator with one controller are one record, with all their connections. */
export function viewOfSessions(
  sessions: readonly SessionReport[],
  displayNameOf: (server: string) => string | null,
): Omit<ServerSessionView, 'connected'>[] {
  const views = new Map<string, Omit<ServerSessionView, 'connected'>>();
  for (const { protocol, server, initiator, target, controller, connections } of sessions) {
    const key = [server, initiator, target, controller].join('\n');
    const count = (views.get(key)?.count ?? 0) + connections;
    const names = { server_name: server, server_display_name: displayNameOf(server) };
    views.set(key, { access_type: protocol, initiator, target, count, vc: controller, ...names });
  }
  return [...views.values()];
}

function timeOf(ms: number | null): string | null {
  return ms === null ? null : formatUtc(ms);
}
