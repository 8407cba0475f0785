import type { ObjectsHandlers } from '../handlers.ts';
import type { ForecastService } from './service.ts';

export function forecastRoutes(forecasts: ForecastService): ObjectsHandlers<'forecasts'> {
  return { list: (page) => forecasts.list(page) };
}
