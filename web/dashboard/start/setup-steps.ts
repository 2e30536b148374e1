/** What is known of a station that is being set up. */
export interface SetupProgress {
  readonly hasStation: boolean
  readonly songs: number
  /** Whether a song is in a playlist. */
  readonly hasPlaylist: boolean
  readonly isOnline: boolean
  /** Whether somebody listens, or the player was opened. */
  readonly isHeard: boolean
}

/** The steps from an empty installation to a station on a website. */
export const setupSteps: readonly {
  readonly title: string
  readonly isDone: (progress: SetupProgress) => boolean
}[] = [
  { title: 'Name a station', isDone: ({ hasStation }) => hasStation },
  { title: 'Add music', isDone: ({ songs }) => songs > 0 },
  { title: 'Make a playlist', isDone: ({ hasPlaylist }) => hasPlaylist },
  { title: 'Go on the air', isDone: ({ isOnline }) => isOnline },
  { title: 'Hear it', isDone: ({ isHeard }) => isHeard },
  { title: 'Embed it', isDone: ({ isHeard, isOnline }) => isHeard && isOnline }
]
