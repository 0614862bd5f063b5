/** Where transactions are scored (POST) and their statuses are told (PATCH), below the base URL (spec: Endpoints). */
export const TRANSACTION_PATH = '/api/v2/transaction';

/** The name of this client to the service. */
export function userAgentOf(version: string): string {
  return `fraud-screening-connector/${version}`;
}

/** Headers of a call with a session, name and value by turns. */
export function callHeaders(token: string, userAgent: string): string[] {
  const authorization = ['authorization', `SessionToken ${token}`];
  return [...authorization, 'content-type', 'application/json', 'accept', 'application/json', 'user-agent', userAgent];
}
