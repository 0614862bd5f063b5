declare const name: unique symbol;

/** A value of type `T` that only its maker can produce: look-alikes (an offset, a partition) cannot be swapped. */
export type Brand<T, Name extends string> = T & { readonly [name]: Name };
