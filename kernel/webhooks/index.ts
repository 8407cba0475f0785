export { webhookRoutes } from './routes.ts';
export { WebhookService, type ShownWebhook } from './service.ts';
export { postSigned, type Attempt } from './signed-post.ts';
