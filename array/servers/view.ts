import type { RecordOf } from '@granary/contract';
import type { Server, ServerSession, VolumeServer } from '@granary/contract/array';
import { formatUtc } from '@granary/kernel';
import type { SessionReport } from '../engine/report.ts';
import type { ServerWithAttachment } from './attachment-repository.ts';
import type { ServerRow } from './repository.ts';

export type ServerView = RecordOf<typeof Server>;
export type VolumeServerView = RecordOf<typeof VolumeServer>;
export type ServerSessionView = RecordOf<typeof ServerSession>;

/** What is known of a server's connections this moment. */
export interface Connectivity {
  readonly isConnected: boolean;
  /** When that was last looked at. */
  readonly checkedAt: number | null;
}

export function viewOf(row: ServerRow, { isConnected, checkedAt }: Connectivity): ServerView {
  return {
    name: row.name,
    display_name: row.display_name,
    iqn: row.iqn,
    iscsi_ip: row.address,
    ipsec_iscsi: 'NO',
    ipsec_nfs: 'NO',
    status: isConnected ? 'Active' : 'Disconnected',
    os: row.os,
    // It has shown itself at least once.
    registered: isConnected || row.state_changed_at !== null ? 'YES' : 'NO',
    last_check_time: timeOf(checkedAt),
    last_state_change_time: timeOf(row.state_changed_at),
    created_at: formatUtc(row.created_at),
    modified_at: formatUtc(row.modified_at),
  };
}

export function viewOfVolume(
  row: ServerWithAttachment,
  connectivity: Connectivity,
  target: string | null,
): VolumeServerView {
  const server = viewOf(row, connectivity);
  return {
    ...server,
    ipsec: 'NO',
    pm_status: row.monitoring === 1 ? server.status : 'Not monitored',
    target: row.access_type === 'ISCSI' ? target : null,
    access_type: row.access_type,
    read_only: row.read_only === 1 ? 'YES' : 'NO',
    lun: row.lun,
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
