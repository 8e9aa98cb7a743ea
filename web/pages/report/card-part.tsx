import { Component, type ReactNode } from "react";
import { ErrorState } from "../../ui/states.tsx";

interface CardPartProps {
  readonly failed: string;
  readonly children: ReactNode;
}

/** A part of a card that is loaded on its own: if it fails, the rest of the card stays. */
export class CardPart extends Component<CardPartProps, { readonly hasFailed: boolean }> {
  override state = { hasFailed: false };

  static getDerivedStateFromError(): { readonly hasFailed: boolean } {
    return { hasFailed: true };
  }

  override render(): ReactNode {
    return this.state.hasFailed ? <ErrorState small message={this.props.failed} /> : this.props.children;
  }
}
