export type { CapacityPoint } from './fit.ts';
export { compareForecasts, type Filled, type Forecast } from './forecast.ts';
export { CapacityHistory } from './history.ts';
export { forecastView } from './view.ts';
