/**
 * May bytes leave this process for the screening service? Fed by the group membership, asked at the last moment before
 * a request is written, so that a process that lost its partitions while it was frozen does not act for them.
 */
export interface Fence {
  mayWrite(): boolean;
}
