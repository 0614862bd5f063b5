/** What these checks read of package.json. */
export interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  /** Packages that bring install scripts, and whether those may run. */
  readonly allowScripts: Readonly<Record<string, boolean>>;
}

/** One entry of package-lock.json. */
export interface Locked {
  readonly version?: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly link?: boolean;
  readonly hasInstallScript?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

/** What these checks read of package-lock.json: by the folder of each package; `''` is the project itself. */
export interface Lock {
  readonly lockfileVersion: number;
  readonly packages: Readonly<Record<string, Locked>>;
}

/** All direct dependencies with their versions. */
export function directOf({ dependencies, devDependencies }: Manifest): ReadonlyMap<string, string> {
  return new Map([...Object.entries(dependencies), ...Object.entries(devDependencies)]);
}

/** The package of a folder in the lockfile: `node_modules/a/node_modules/@b/c` is `@b/c`. */
export function packageIn(folder: string): string {
  return folder.slice(folder.lastIndexOf('node_modules/') + 'node_modules/'.length);
}
