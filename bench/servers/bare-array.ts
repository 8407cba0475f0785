import { replySchema, type RecordReply } from '@granary/contract';
import { arrayApi } from '@granary/contract/array';
import Fastify from 'fastify';

/** The same page of volumes, from memory: with the schema of the contract, and with `JSON.stringify` alone. */
process.once('message', (page: object) => {
  // Formats of ours that only say how a text is written: there is nothing to check when it is sent.
  const app = Fastify({ serializerOpts: { ajv: { formats: { utc: true, iso: true } } } });
  const reply: RecordReply = arrayApi.groups.volumes.list.reply;
  app.get('/schema', { schema: { response: { 200: replySchema(reply) } } }, () => page);
  app.get('/plain', () => page);
  void app.listen({ host: '127.0.0.1', port: 0 }).then((url) => process.send?.({ url }));
});
process.on('disconnect', () => process.exit(0));
