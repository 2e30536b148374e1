const name = 'cuewire-volume'

/** How loud it was the last time, from 0 to 1; 1 where nobody knows. */
export function keptVolume(): number {
  try {
    const kept = Number(localStorage.getItem(name) ?? 1)
    return kept >= 0 && kept <= 1 ? kept : 1
  } catch {
    // The browser keeps nothing for this page.
    return 1
  }
}

export function keepVolume(volume: number): void {
  try {
    localStorage.setItem(name, String(volume))
  } catch {
    // Then it is as loud as at first the next time.
  }
}
