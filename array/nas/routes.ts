import type { ArrayHandlers } from '../handlers.ts';
import type { NasService } from './service.ts';
import { groupView, userView } from './view.ts';

export function nasUserRoutes(service: NasService): ArrayHandlers<'nasUsers'> {
  return {
    list: (page) => {
      const { users, count } = service.listUsers(page);
      return { users: users.map(userView), count };
    },
    create: async (input, { actor }) => ({
      user: userView(await service.createUser(requestOf(input), actor.username)),
    }),
    update: async (input, { actor }) => ({
      user: userView(await service.updateUser(requestOf(input), actor.username)),
    }),
    delete: async ({ username }, { actor }) => {
      await service.deleteUser(username, actor.username);
      return {};
    },
  };
}

export function nasGroupRoutes(service: NasService): ArrayHandlers<'nasGroups'> {
  return {
    list: (page) => {
      const { groups, count } = service.listGroups(page);
      return { groups: groups.map(groupView), count };
    },
    create: async ({ group_name: name, nfs_gid: nfsGid, smb }, { actor }) => ({
      group: groupView(await service.createGroup({ name, nfsGid, smb }, actor.username)),
    }),
    delete: async ({ groupname }, { actor }) => {
      await service.deleteGroup(groupname, actor.username);
      return {};
    },
  };
}

interface UserInput {
  readonly username: string;
  readonly nfs_uid?: number | undefined;
  readonly password?: string | undefined;
  readonly groupname?: string | undefined;
  readonly groups?: readonly string[] | undefined;
}

function requestOf({ username, nfs_uid: nfsUid, password, groupname: group, groups }: UserInput) {
  return { username, nfsUid, password, group, groups };
}
