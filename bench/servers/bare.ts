import { listOf, replySchema, success } from '@granary/contract';
import { ListedArray, ShownArray } from '@granary/contract/portal';
import Fastify from 'fastify';

/**
 * The least a server can do: the same records, from memory, through Fastify with the same schema. Its parent sends
 * the records as the portal gave them. `/plain` does without the schema: what `JSON.stringify` alone costs.
 */
process.once('message', (message) => {
  const { listed, shown } = message as { listed: object[]; shown: object };
  const app = Fastify();
  const one = { schema: { response: { 200: replySchema(success({ data: ShownArray })) } } };
  const many = { schema: { response: { 200: replySchema(success({ data: listOf(ListedArray) })) } } };
  app.get('/schema/arrays/:id', one, () => ({ status: 'success', data: shown }));
  app.get('/schema/arrays', many, () => ({ status: 'success', data: listed }));
  app.get('/plain/arrays/:id', () => ({ status: 'success', data: shown }));
  app.get('/plain/arrays', () => ({ status: 'success', data: listed }));
  void app.listen({ host: '127.0.0.1', port: 0 }).then((url) => process.send?.({ url }));
});
process.on('disconnect', () => process.exit(0));
