type Environment = Readonly<Record<string, string | undefined>>

export declare const secretNames: readonly string[]
export declare function readVariableFiles(env: Environment): {
  readonly values: Readonly<Record<string, string>>
  /** Sentences that begin with the name of a variable. */
  readonly problems: readonly string[]
}
