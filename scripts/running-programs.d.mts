/** A Cuewire that runs on this machine. */
export interface RunningProgram {
  readonly pid: number
  readonly url: string
  /** An absolute path. */
  readonly dataDir: string
}

type Environment = Readonly<Record<string, string | undefined>>

export declare function registerProgram(
  program: Pick<RunningProgram, 'url' | 'dataDir'>,
  env?: Environment
): Promise<() => Promise<void>>
export declare function findPrograms(env?: Environment): Promise<readonly RunningProgram[]>
export declare function chooseProgram(env?: Environment): Promise<RunningProgram | null>
export declare function isAlive(pid: number): boolean
