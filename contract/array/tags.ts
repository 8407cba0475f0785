import { endpoint, type Access, type Group } from '../endpoint.ts';
import type { ErrorName } from '../errors.ts';
import { page, type Param, text } from '../params.ts';
import { listOf, record, str } from '../records.ts';
import { response } from '../reply.ts';
import { adminOnly, creatorOf, signedIn } from './access.ts';
import { poolId, serverId, volumeId } from './ids.ts';
import { count } from './shared.ts';

export const Tag = record('Tag', { name: str(), key: str(), value: str() });

const tagNamed = response({ tag_name: str() });
const key = text('What the tag is about', { max: 128, example: 'owner' });
const value = text('What it says', { min: 0, max: 256, example: 'web team' });

/** The same four endpoints under each kind of thing that can be tagged. */
function tagsOf(things: string, a: string, id: Param<string, 'required'>, notFound: ErrorName, toChange: Access) {
  return {
    list: endpoint('GET', `/${things}/{id}/tags`, {
      summary: `List the tags of ${a}`,
      access: signedIn,
      params: { id, ...page },
      reply: response({ tags: listOf(Tag), count }),
      errors: [notFound],
    }),
    create: endpoint('POST', `/${things}/{id}/tags`, {
      summary: `Tag ${a}`,
      access: toChange,
      params: { id, key, value },
      reply: tagNamed,
      errors: [notFound, 'name_taken', 'limit_reached'],
    }),
    update: endpoint('PUT', `/${things}/{id}/tags/{tag_key}`, {
      summary: `Change what a tag of ${a} says`,
      access: toChange,
      params: { id, tag_key: key, value },
      reply: tagNamed,
      errors: [notFound, 'tag_not_found'],
    }),
    delete: endpoint('DELETE', `/${things}/{id}/tags/{tag_key}`, {
      summary: `Take a tag off ${a}`,
      access: toChange,
      params: { id, tag_key: key },
      reply: tagNamed,
      errors: [notFound, 'tag_not_found'],
    }),
  } satisfies Group;
}

export const poolTags = tagsOf('pools', 'a pool', poolId, 'pool_not_found', adminOnly);
export const volumeTags = tagsOf('volumes', 'a volume', volumeId, 'volume_not_found', creatorOf('volume'));
export const serverTags = tagsOf('servers', 'a server', serverId, 'server_not_found', creatorOf('server'));
