export { bestFirst, bestNamed, likeAny, likeParams, type Named } from './names.ts';
