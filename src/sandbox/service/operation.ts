/** The operations of the service (spec: Endpoints). */
export type Operation = 'score' | 'sync' | 'login';

export const OPERATIONS: readonly Operation[] = ['score', 'sync', 'login'];
