import { array } from '../../api/array.ts';
import { action, type ActionProps } from '../../contract/action-props.ts';
import type { Server } from '../records.ts';

export const SERVER_LABELS = {
  display_name: 'Name',
  iqn: 'iSCSI initiator name',
  iscsi: 'Address or network',
  os: 'Operating system',
  arraychapuser: 'CHAP name',
  arraychapsecret: 'CHAP secret',
  hostchapuser: 'CHAP name of the array',
  hostchapsecret: 'CHAP secret of the array',
};
const CHAP = ['arraychapuser', 'arraychapsecret', 'hostchapuser', 'hostchapsecret'];

export function serverActions(server: Server): ActionProps<never>[] {
  const input = { id: server.name };
  return [
    action({
      op: array.servers.update,
      label: 'Change',
      input,
      start: {
        display_name: server.display_name,
        ...(server.iqn !== null && { iqn: server.iqn }),
        ...(server.iscsi_ip !== null && { iscsi: server.iscsi_ip }),
        ...(server.os !== null && { os: server.os }),
      },
      fields: ['display_name', 'iqn', 'iscsi', 'os'],
      more: [...CHAP, 'monitoring', 'force'],
      labels: SERVER_LABELS,
    }),
    action({
      op: array.servers.update,
      label: 'CHAP',
      input,
      fields: CHAP,
      more: [],
      labels: SERVER_LABELS,
      about: 'What is left empty stays as it is. The server needs the secret for discovery and for login.',
    }),
    action({
      op: array.servers.delete,
      takesAway: true,
      label: 'Remove',
      input,
      destroys: server.display_name,
      about: 'Only a server without attached volumes can be removed.',
    }),
  ];
}
