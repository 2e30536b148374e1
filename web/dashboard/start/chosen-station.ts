/** Names the station that is set up, so that the first steps continue where they were left. */
const stationKey = 'cuewire-start'

/** The id of the station that the first steps set up; 0 if none was chosen. */
export const readChosenStation = (): number => Number(localStorage.getItem(stationKey) ?? 0)

export const storeChosenStation = (id: number): void => localStorage.setItem(stationKey, String(id))
