export { webhookRoutes } from './routes.ts';
export { WebhookService, type ShownWebhook } from './service.ts';
